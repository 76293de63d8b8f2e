"""A plan: schemes with their predicted risks and errors, the frontier, and the suggestions."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask._digits import finite
from condmask.errors import ArgumentError
from condmask.planning.candidates import Candidate, Column, frontier
from condmask.planning.check import Checked, checked
from condmask.planning.predicted import QUANTILES

WHY = {
    "most useful": "the shortest intervals of the schemes that keep the caps and that masking accepts",
    "balanced": "between the other two",
    "safest": "the least risk of these, with intervals that are not much longer",
}
NAMES = tuple(WHY)
REFUSED = "refused by the audit"
PARAMETERS = ("p", "sigma", "noise", "reverse_mapping", "scale", "donors")


class Suggestion(NamedTuple):
    """One of the schemes to choose from.

    Attributes
    ----------
    name : {"most useful", "balanced", "safest"}
    expected : Candidate
        Its predicted risks and errors.
    """

    name: str
    expected: Candidate

    @property
    def scheme(self) -> Any:
        """The scheme."""
        return self.expected.scheme

    @property
    def why(self) -> str:
        """What speaks for it."""
        return WHY[self.name]

    def to_dict(self) -> dict[str, Any]:
        """The suggestion in terms of JSON."""
        expected = self.expected
        errors = {
            target: {name: finite(value) for name, value in getattr(expected, target).items()}
            for target in ("file", "population")
        }
        return {
            "name": self.name, "why": self.why, "scheme": self.scheme.to_dict(),
            "risk": expected.risk.tolist(), "record risk": expected.record_risk.tolist(),
            "loss": finite(expected.loss), **errors,
        }  # fmt: skip


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
    constant : ndarray of shape (distances,)
        The risk of always guessing the best constant. No scheme has less risk.
    candidates : list of Candidate
        All schemes tried.
    suggestions : list of Suggestion
        Up to three schemes that masking accepts, the cheapest first; none if masking refuses all that it was
        asked about (see `refusal`).
    caps, record_caps, limits : dict
        The largest risks allowed by distance, for the best attacker and for a single record, and the largest
        errors by statistic.
    target : {"population", "file"}
        What errors refer to.
    column : Column
        The data planned for.
    """

    n: int
    d: tuple[float, ...]
    constant: np.ndarray
    candidates: list[Candidate]
    suggestions: list[Suggestion]
    caps: dict[float, float]
    record_caps: dict[float, float]
    limits: dict[str, float]
    target: str
    column: Column

    def capped(self, candidate: Candidate) -> list[tuple[str, float, float]]:
        """What of a scheme is capped: what it is, its figure, and the cap."""
        risk = dict(zip(self.d, candidate.risk, strict=True))
        record_risk = dict(zip(self.d, candidate.record_risk, strict=True))
        errors = getattr(candidate, self.target)
        return [
            *((f"risk at d={d:g}", risk[d], cap) for d, cap in self.caps.items()),
            *((f"risk of a record at d={d:g}", record_risk[d], cap) for d, cap in self.record_caps.items()),
            *((f"error of {name}", errors[name], cap) for name, cap in self.limits.items()),
        ]

    def keeps(self, candidate: Candidate) -> bool:
        """Whether a scheme keeps all caps."""
        return all(figure <= cap for _, figure, cap in self.capped(candidate))

    @cached_property
    def allowed(self) -> np.ndarray:
        """Which schemes keep the caps."""
        return np.array([self.keeps(candidate) for candidate in self.candidates])

    @cached_property
    def on_frontier(self) -> np.ndarray:
        """Which schemes no other beats in both mean risk and loss."""
        return frontier(self.candidates)

    @property
    def refused(self) -> np.ndarray:
        """Which schemes masking refuses, of those asked about on the way to the suggestions."""
        return np.array([bool(self.column.asked.get(each.scheme)) for each in self.candidates])

    @property
    def gaps(self) -> bool:
        """Whether values are missing without a code, which masking has to be told to leave out."""
        return bool(np.isnan(self.column.given).any())

    @property
    def best(self) -> Suggestion:
        """The cheapest scheme under caps on risk; under caps on errors alone the safest one."""
        if not self.suggestions:
            raise ArgumentError(self.refusal)
        return self.suggestions[-1 if self.limits and not (self.caps or self.record_caps) else 0]

    @property
    def refusal(self) -> str:
        """Why masking refuses the cheapest scheme that keeps the caps, if none is suggested."""
        return self.column.refusal(self._cheapest.scheme)

    @property
    def _cheapest(self) -> Candidate:
        allowed = (candidate for candidate, ok in zip(self.candidates, self.allowed, strict=True) if ok)
        return min(allowed, key=lambda candidate: candidate.loss)

    def check(
        self, scheme: Any = None, *, replications: int = 400, target: str | None = None, rng: Any = None
    ) -> Checked:
        """Compare predicted standard errors with those of simulated releases of this file.

        Parameters
        ----------
        scheme : ConditionalMasking, optional
            By default that of `best`.
        replications : int
            Number of releases. The relative error of simulated errors is 1 / sqrt(2 replications): 3.5% for
            400.
        target : {"population", "file"}, optional
            "file": the file stays fixed, so only the masking varies; "population": records are drawn from it
            anew each time. By default that of the plan.
        rng : None, int, Generator or SeedSequence
            A whole number gives the same result again.

        Returns
        -------
        Checked
            Predicted and simulated errors by statistic; ``print`` shows them.
        """
        target = self.target if target is None else _checks.choice(target, "target", ("population", "file"))
        chosen = self.best.scheme if scheme is None else scheme
        return checked(
            self.column, chosen, _checks.whole(replications, "replications", least=10), target, rng
        )

    def rows(self) -> list[dict[str, Any]]:
        """A dict for every scheme: its parameters, risks, errors, whether it is on the frontier and whether
        it keeps the caps, and "audit": whether masking refuses it, checked if both hold."""
        rows = []
        for k, candidate in enumerate(self.candidates):
            row = {name: getattr(candidate.scheme, name) for name in PARAMETERS}
            for name, risks in (("risk", candidate.risk), ("record risk", candidate.record_risk)):
                row |= {f"{name} {d:g}": risk for d, risk in zip(self.d, risks.tolist(), strict=True)}
            row["loss"] = candidate.loss
            row |= {f"error of {name}": value for name, value in getattr(candidate, self.target).items()}
            row |= {"frontier": bool(self.on_frontier[k]), "allowed": bool(self.allowed[k])}
            rows.append(row | {"audit": REFUSED if self.refused[k] else ""})
        return rows

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return frames.of_rows(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """The plan in terms of JSON.

        Returns
        -------
        dict
            "n", "d", "constant", "target", "max_risk", "max_record_risk", "max_error", "schemes",
            "suggestions".
        """
        return {
            "n": self.n, "d": list(self.d), "constant": self.constant.tolist(), "target": self.target,
            "max_risk": {f"{d:g}": cap for d, cap in self.caps.items()},
            "max_record_risk": {f"{d:g}": cap for d, cap in self.record_caps.items()},
            "max_error": dict(self.limits),
            "schemes": [{name: finite(value) for name, value in row.items()} for row in self.rows()],
            "suggestions": [suggestion.to_dict() for suggestion in self.suggestions],
        }  # fmt: skip

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Draw risk against the length of intervals: all schemes, the frontier, the suggestions.

        Needs matplotlib (``pip install condmask[plot]``).

        Parameters
        ----------
        path : path-like, optional
            Where the picture is written; it is then not shown.
        ax : matplotlib Axes or sequence of Axes, optional
            Where to draw, one for each distance in `d`; labels that they have are kept. None makes a figure.

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
        The frontier is that of the mean risk over all distances. Schemes on it that masking refuses are
        marked.

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

        return risk_against_loss(self, self.column.name, path, ax)

    def __repr__(self) -> str:
        return f"Plan(n={self.n}, d={self.d}, schemes={len(self.candidates)}, allowed={self.allowed.sum()})"

    def __str__(self) -> str:
        kept = (
            f", {int(self.allowed.sum())} keep the caps"
            if self.caps or self.record_caps or self.limits
            else ""
        )
        guess = " and ".join(
            f"{share:.1%} of the values closer than d = {d:g}"
            for d, share in zip(self.d, self.constant, strict=True)
        )
        lines = [
            f"{len(self.candidates)} schemes tried on {self.n:,} records{kept}",
            f"a constant guess, without any release, is right for {guess}",
        ]
        for name, expected in self.suggestions:
            lines += ["", f"{name}: {expected.scheme!r}", f"  {WHY[name]}"]
            lines.append(f"  intervals {expected.loss:.2f} times as long as without masking")
            lines += [
                f"  closer than d = {d:g}: the best attacker {risk:.1%} of the values, "
                f"the released value of the most exposed record with a chance of {exposed:.1%}"
                for d, risk, exposed in zip(self.d, expected.risk, expected.record_risk, strict=True)
            ]
            errors = getattr(expected, self.target)
            said = [
                f"{key} {error:.3g}" for key, error in errors.items() if key not in QUANTILES or "0.5" in key
            ]
            lines.append(f"  standard errors: {', '.join(said)} (for the {self.target})")
        if not self.suggestions:
            lines += ["", "no scheme is suggested. Masking refuses the one with the shortest intervals,"]
            lines.append(f"{self._cheapest.scheme!r}: {self.refusal}")
        return "\n".join(lines)
