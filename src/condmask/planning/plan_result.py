"""Hold the schemes of a plan with their risks and errors; show them as text, table and picture."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condmask import frames
from condmask._digits import finite, preformatted
from condmask.errors import ArgumentError
from condmask.planning.candidates import Candidate, frontier


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The schemes that could mask a file, with their risks and errors.

    Made by `plan`; ``print`` shows the suggestions, `to_frame` all schemes.

    Attributes
    ----------
    n : int
        Number of records.
    d : tuple of float
        Distances, in the units of the data.
    candidates : list of Candidate
        All schemes tried.
    suggestions : dict of str to Candidate
        Up to three schemes that masking accepts, the cheapest first: "most useful", "balanced",
        "safest". Empty if masking refuses all schemes that were checked.
    refusals : dict of scheme to str
        Why masking refuses a scheme. Only schemes that might be suggested are checked.
    caps : dict of str to float
        The largest values allowed in columns of the table: "risk 100", "record risk 100", "error
        of mean".
    target : {"population", "file"}
        What errors refer to.
    allowed : ndarray of shape (candidates,)
        Which schemes keep the caps.
    name : str
        The name of the column.
    """

    n: int
    d: tuple[float, ...]
    candidates: list[Candidate]
    suggestions: dict[str, Candidate]
    refusals: dict[Any, str]
    caps: dict[str, float]
    target: str
    allowed: np.ndarray
    name: str

    @property
    def constant(self) -> np.ndarray:
        """Return the risk of the best constant guess, by distance. No scheme has less risk."""
        return self.candidates[0].constant

    @cached_property
    def on_frontier(self) -> np.ndarray:
        """Return for each scheme whether no other beats it in both mean risk and loss."""
        front = {each.scheme for each in frontier(self.candidates)}
        return np.array([each.scheme in front for each in self.candidates])

    @property
    def refused(self) -> np.ndarray:
        """Return for each scheme whether it was checked and masking refuses it."""
        return np.array([each.scheme in self.refusals for each in self.candidates])

    @property
    def best(self) -> Candidate:
        """Return the suggested scheme with the shortest intervals; the safest one if all caps are
        caps on errors."""
        if not self.suggestions:
            raise ArgumentError(str(self).splitlines()[-1])
        of_errors = self.caps and all(name.startswith("error") for name in self.caps)
        return [*self.suggestions.values()][-1 if of_errors else 0]

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for every scheme: its parameters, risks, loss and errors, whether it is on
        the frontier, whether it keeps the caps, and whether masking is known to refuse it."""
        marks = {"frontier": self.on_frontier, "allowed": self.allowed, "refused": self.refused}
        return [
            each.row(self.d, self.target) | {name: bool(which[k]) for name, which in marks.items()}
            for k, each in enumerate(self.candidates)
        ]

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame."""
        return frames.frame_of_rows(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """Return the plan in terms of JSON: "n", "d", "constant", "target", "caps", "schemes",
        "suggestions"."""
        own = {
            "n": self.n,
            "d": list(self.d),
            "constant": self.constant.tolist(),
            "target": self.target,
        }
        suggestions = {name: each.scheme.to_dict() for name, each in self.suggestions.items()}
        return own | {
            "caps": self.caps,
            "schemes": finite(self.rows()),
            "suggestions": suggestions,
        }

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: object = None) -> Any:
        """Draw risk against the length of intervals: all schemes, the frontier, the suggestions.

        Needs matplotlib (``pip install condmask[plot]``).

        Parameters
        ----------
        path : path-like, optional
            Where the picture is written; it is then not shown.
        ax : matplotlib Axes or sequence of Axes, optional
            Where to draw, one for each distance in `d`; labels that they have are kept. None makes
            a figure.

        Returns
        -------
        ndarray of matplotlib Axes
            One for each distance.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.

        Notes
        -----
        The frontier is that of the mean risk over all distances. Schemes on it that masking
        refuses are marked.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).laplace(10, 1000, 1_000)
        >>> made = cm.plan(x, max_risk={500: 0.45}, p=[0.3, 0.6], sigma=[500.0, 1000.0])
        >>> (ax,) = made.plot()
        >>> ax.get_yscale()
        'log'
        """
        from condmask.plot.risk_and_loss import risk_against_loss

        return risk_against_loss(self, self.name, path, ax)

    def _repr_html_(self) -> str:
        """Return the text for notebooks."""
        return preformatted(str(self))

    def __str__(self) -> str:
        kept = f", {int(self.allowed.sum())} keep the caps" if self.caps else ""
        lines = [f"{len(self.candidates)} schemes tried on {self.n:,} records{kept}"]
        for d, share in zip(self.d, self.constant, strict=True):
            lines.append(
                f"without any release, a constant guess is closer than d = {d:g} to {share:.1%} "
                "of the values"
            )
        for name, each in self.suggestions.items():
            longer = f"  intervals {each.loss:.2f} times as long as without masking"
            lines += ["", f"{name}: {each.scheme!r}", longer]
            lines += [
                f"  closer than d = {d:g}: the best attacker guesses {risk:.1%} of the values; "
                f"the most exposed record shows such a value with probability {exposed:.1%}"
                for d, risk, exposed in zip(self.d, each.risk, each.record_risk, strict=True)
            ]
            errors = getattr(each, self.target).items()
            said = (
                f"{key} {error:.3g}"
                for key, error in errors
                if "0.5" in key or "quantile" not in key
            )
            lines.append(f"  standard errors: {', '.join(said)} (for the {self.target})")
        if not self.suggestions:
            scheme, why = next(iter(self.refusals.items()))
            lines += [
                "",
                f"no scheme is suggested. Masking refuses {scheme!r}, which has the shortest "
                "intervals:",
            ]
            lines.append(why)
        return "\n".join(lines)

    __repr__ = __str__
