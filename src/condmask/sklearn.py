"""A scikit-learn transformer that masks a table once: ``from condmask.sklearn import ConditionalMasker``.

A second masking of the same records, with other noise, tells more about each of them. So the transformer
masks when it is fitted, gives the same masked values for the same table afterwards, and refuses all others.

It recognises the table by a digest under a key that was drawn for it alone. Both stay in memory: anyone who
knows all records but one could search a digest in a file for that one.
"""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask._optional import optional
from condmask._randomness import Secret
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.releases.mask_table import mask_table
from condmask.releases.release import forget_originals
from condmask.scheme import Scheme
from condmask.strata import names_of

with optional("condmask.sklearn", "sklearn"):
    from sklearn import get_config
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data


class Masked(NamedTuple):
    """What is known of the table that was masked, and of what was asked then."""

    key: Secret
    digest: bytes
    asked: str


class ConditionalMasker(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Mask columns of a table as a step of a scikit-learn pipeline, once.

    Parameters
    ----------
    schemes : scheme or dict of str to scheme
        The scheme of each column to mask, by name; or one scheme for all columns but the strata. The columns
        of an array are called x0, x1, ... Columns without a scheme stay as they are; the audit looks at them.
    strata : str or sequence of str, optional
        Columns within whose groups donors are drawn.
    nan_policy, round, workers, accept_visible_coins
        As for `mask_table`.

    Attributes
    ----------
    release_ : Release
        The masked table in `data`, the schemes, and the estimates of the originals by column.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, where the table has any.

    See Also
    --------
    condmask.mask_table : the same in one call.

    Notes
    -----
    `fit` masks with a key from the operating system and keeps only masked values: no original, no masking key
    and no swap status, in memory or in a pickle. `transform` returns these values for the table that was
    fitted, the same rows in the same order, and refuses any other table: noise drawn a second time for a
    record tells more about it, and a record that comes later has no donors. Fitting the same table again
    changes nothing unless a parameter has changed. A clone, a copy or a pickle has forgotten the table, so
    its `transform` refuses every table; a clone that is fitted to it masks it a second time, and only one of
    the two may be published.

    So a pipeline that begins with a masker can be fitted, but predicts only for the table it was fitted on.
    Mask first, then split and cross-validate `release_.data`.

    Give the masker all columns that will be published, and name those to mask in `schemes`. Within a
    ``ColumnTransformer`` it sees only its own columns, and the audit cannot look at the others.

    `release_.write` needs ``ledger=False``: no original is left for the ledger to look up. `mask_table` and
    `mask_file` do look records up.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> from condmask.sklearn import ConditionalMasker
    >>> rng = np.random.default_rng(1)
    >>> frame = pd.DataFrame({"age": rng.integers(20, 66, 5_000), "income": rng.lognormal(8, 0.5, 5_000)})
    >>> masker = ConditionalMasker({"income": cm.ConditionalMasking(0.6, 500.0)})
    >>> masked = masker.fit_transform(frame)
    >>> bool((masked["age"] == frame["age"]).all()), bool((masked["income"] == frame["income"]).any())
    (True, False)
    >>> bool(abs(masker.release_["income"].mean() / frame["income"].mean() - 1) < 0.02)
    True
    """

    def __init__(
        self,
        schemes: Any,
        *,
        strata: Any = None,
        nan_policy: str = "raise",
        round: bool = False,
        workers: Workers = 1,
        accept_visible_coins: bool = False,
    ) -> None:
        self.schemes, self.strata = schemes, strata
        self.nan_policy, self.round, self.workers = nan_policy, round, workers
        self.accept_visible_coins = accept_visible_coins

    def fit(self, X: Any, y: Any = None) -> Self:
        """Mask a table.

        Parameters
        ----------
        X : data frame, or array_like of shape (n, q)
            The originals.
        y : ignored

        Returns
        -------
        ConditionalMasker
            Itself, with the masked table in `release_`.

        Raises
        ------
        ValueError, TypeError
            As for `mask_table`.
        ReleaseError
            If the release would show which records were swapped.
        """
        table = self._table(X, reset=True)
        options = {**self.get_params(deep=False), "schemes": self._by_column(table)}
        with _checks.converting(self.schemes, "schemes", "masking schemes, beside options that have a text"):
            asked = repr({name: value for name, value in options.items() if name != "workers"})
        before = self._masked_before(table)
        if before is not None and before.asked == asked:
            return self
        release = mask_table(table, **options)
        forget_originals(release)
        key = Secret(secrets.token_bytes(32))
        self.release_, self._masked = release, Masked(key, digest_of(table, key), asked)
        return self

    def transform(self, X: Any) -> Any:
        """The masked values of the table that was fitted.

        Parameters
        ----------
        X : data frame, or array_like of shape (n, q)
            The originals that were fitted.

        Returns
        -------
        data frame or ndarray of shape (n, q)
            Of the kind that was fitted, unless `set_output` names another.

        Raises
        ------
        ValueError
            If it is any other table.
        """
        check_is_fitted(self)
        table = self._table(X, reset=False)
        if self._masked_before(table) is None:
            raise ArgumentError(
                "X must be the table that was fitted, the same rows in the same order: transform masks no "
                "other records, and none a second time. A copy or a pickle has forgotten the table; its "
                "masked values are in release_.data"
            )
        return self._output(X)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_masked": None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = self.nan_policy == "omit"
        tags.input_tags.string = tags.input_tags.categorical = isinstance(self.schemes, Mapping)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # --- private ---

    def _table(self, X: Any, *, reset: bool) -> Any:
        """The data frame as it is, or the columns of an array by name."""
        if frames.is_frame(X):
            names = frames.column_names(X)
            frames.check_names(names)
            if reset:
                self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
            return X
        allowed = "allow-nan" if isinstance(self.nan_policy, str) and self.nan_policy == "omit" else True
        try:
            array = validate_data(
                self, X, reset=reset, ensure_min_samples=2, dtype="numeric", ensure_all_finite=allowed
            )
        except (ValueError, TypeError, MemoryError):  # in the words of scikit-learn, as its users know them
            raise
        except Exception:
            raise ArgumentTypeError(f"X must be a table of numbers, got {type(X).__name__}") from None
        return {f"x{k}": np.ascontiguousarray(column) for k, column in enumerate(array.T)}

    def _by_column(self, table: Any) -> dict[str, Any]:
        """The schemes by column."""
        if not isinstance(self.schemes, Scheme):
            schemes: dict[str, Any] = self.schemes
            return schemes
        beside = {*names_of(_checks.strata(self.strata)), *names_of(self.schemes.strata)}
        return {name: self.schemes for name in frames.column_names(table) if name not in beside}

    def _masked_before(self, table: Any) -> Masked | None:
        """What is known of the masked table, where it is this one."""
        before: Masked | None = getattr(self, "_masked", None)
        if before is None or before.digest != digest_of(table, before.key):
            return None
        return before

    def _output(self, X: Any) -> Any:
        """A copy of the masked table in the container that is asked for; frames of pandas have X's index."""
        data = self.release_.data
        if isinstance(data, dict):
            return np.column_stack(list(data.values()))
        asked = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        return frames.copied(data, asked, index=getattr(X, "index", None))


def digest_of(table: Any, key: bytes) -> bytes:
    """A digest of all values of a table under a key; of numbers whatever the type that holds them."""
    digest = hashlib.blake2b(key=key, digest_size=32, person=b"condmask sklearn")
    for name in frames.column_names(table):
        values = frames.labels(frames.table_column(table, name), name)
        if values.dtype.kind in "biuf":
            part = np.ascontiguousarray(values, dtype=np.float64).tobytes()
        else:
            with _checks.converting(values, name, frames.LABELS):
                part = repr(values.tolist()).encode("utf-8", "surrogatepass")
        for text in (name.encode("utf-8", "surrogatepass"), part):
            digest.update(len(text).to_bytes(8, "little") + text)
    return digest.digest()
