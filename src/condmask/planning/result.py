"""A plan: schemes with what is to be expected of each, the frontier, and what is suggested."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask._digits import finite
from condmask.errors import ArgumentError
from condmask.planning.candidates import Candidate, Column
from condmask.planning.check import Checked, checked

NAMES = ("most useful", "balanced", "safest")
REFUSED = "refused by the audit"
PARAMETERS = ("p", "sigma", "noise", "reverse_mapping", "scale", "donors")


class Suggestion(NamedTuple):
    """One of the schemes to choose from.

    Attributes
    ----------
    name : {"most useful", "balanced", "safest"}
    expected : Candidate
        What is to be expected of it.
    why : str
        In a sentence.
    """

    name: str
    expected: Candidate
    why: str

    @property
    def scheme(self) -> Any:
        """The scheme."""
        return self.expected.scheme

    def to_dict(self) -> dict[str, Any]:
        """The suggestion in terms of JSON."""
        expected = self.expected
        return {
            "name": self.name, "why": self.why, "scheme": self.scheme.to_dict(),
            "risk": expected.risk.tolist(), "record risk": expected.record_risk.tolist(),
            "loss": expected.loss,
            "file": {name: finite(value) for name, value in expected.file.items()},
            "population": {name: finite(value) for name, value in expected.population.items()},
        }  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What can be had for a file.

    Made by `plan`; ``print`` shows the suggestions, `to_frame` all schemes.

    Attributes
    ----------
    n : int
        Records.
    d : tuple of float
        Distances, in the units of the data.
    constant : ndarray of shape (distances,)
        The risk of who always names the best constant: less is not to be had.
    candidates : list of Candidate
        All schemes that were tried.
    on_frontier : ndarray of bool
        Which of them no other beats in both mean risk and loss.
    allowed : ndarray of bool
        Which of them keep the caps.
    suggestions : list of Suggestion
        Up to three that masking accepts, the cheapest first; none where it refuses all that were tried on it
        (`refusal`).
    caps, record_caps, limits : dict
        The largest risks by distance, of the best attacker and of a single record, and the largest errors by
        statistic.
    target : {"population", "file"}
        What errors are about.
    """

    n: int
    d: tuple[float, ...]
    constant: np.ndarray
    candidates: list[Candidate]
    on_frontier: np.ndarray
    allowed: np.ndarray
    suggestions: list[Suggestion]
    caps: dict[float, float]
    record_caps: dict[float, float]
    limits: dict[str, float]
    target: str
    _column: Column = field(repr=False)

    @property
    def gaps(self) -> bool:
        """Whether values are missing that no code stands for, which masking has to be told to leave out."""
        return bool(np.isnan(self._column.gate.x).any())

    @property
    def best(self) -> Suggestion:
        """The cheapest scheme under caps on risk; under caps on errors alone the safest one."""
        if not self.suggestions:
            raise ArgumentError(self.refusal)
        return self.suggestions[-1 if self.limits and not (self.caps or self.record_caps) else 0]

    @property
    def refusal(self) -> str:
        """What speaks against the cheapest scheme that keeps the caps: why none is suggested."""
        allowed = (candidate for candidate, ok in zip(self.candidates, self.allowed, strict=True) if ok)
        cheapest = min(
            allowed, key=lambda candidate: candidate.loss if np.isfinite(candidate.loss) else np.inf
        )
        return self._column.refusal(cheapest.scheme) or ""

    @cached_property
    def refused(self) -> np.ndarray:
        """Which schemes masking refuses, of those on the frontier that keep the caps; others are not asked
        about unless they were on the way to a suggestion."""
        asked = self.on_frontier & self.allowed
        return np.array(
            [
                (ask or candidate.scheme in self._column.cache)
                and self._column.refusal(candidate.scheme) is not None
                for ask, candidate in zip(asked, self.candidates, strict=True)
            ]
        )

    def check(
        self, scheme: Any = None, *, replications: int = 400, target: str | None = None, rng: Any = None
    ) -> Checked:
        """Compare predicted standard errors with those of simulated releases of this very file.

        Parameters
        ----------
        scheme : ConditionalMasking, optional
            By default that of `best`.
        replications : int
            Releases. Simulated errors are known to 1 in sqrt(2 replications): 3.5% for 400.
        target : {"population", "file"}, optional
            "file": the file is kept as it is, so only the masking varies; "population": records are drawn
            from it anew each time. By default that of the plan.
        rng : None, int, Generator or SeedSequence
            A whole number gives the same result again.

        Returns
        -------
        Checked
            Predicted and simulated errors by statistic; ``print`` shows them.
        """
        target = self.target if target is None else _checks.choice(target, "target", ("population", "file"))
        chosen = self.best.scheme if scheme is None else scheme
        whole = _checks.whole(replications, "replications", least=10)
        return checked(self._column, chosen, whole, target, rng)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for every scheme: its parameters, risks, errors, whether it is on the frontier and keeps the
        caps, and "audit", what masking says of it, asked where both are so."""
        rows = []
        for k, candidate in enumerate(self.candidates):
            scheme = candidate.scheme
            parameters = {name: getattr(scheme, name) for name in PARAMETERS}
            risks = {
                f"{name} {d:g}": float(risk)
                for name, of_scheme in (("risk", candidate.risk), ("record risk", candidate.record_risk))
                for d, risk in zip(self.d, of_scheme, strict=True)
            }
            errors = {f"error of {name}": value for name, value in getattr(candidate, self.target).items()}
            rows.append(
                parameters | risks | {"loss": candidate.loss} | errors
                | {"frontier": bool(self.on_frontier[k]), "allowed": bool(self.allowed[k])}
                | {"audit": REFUSED if self.refused[k] else ""}
            )  # fmt: skip
        return rows

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return frames.of_rows(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """All of it in terms of JSON.

        Returns
        -------
        dict
            "n", "d", "constant", "target", "max_risk", "max_record_risk", "max_error", "schemes",
            "suggestions".
        """
        return {
            "n": self.n,
            "d": list(self.d),
            "constant": self.constant.tolist(),
            "target": self.target,
            "max_risk": {f"{d:g}": cap for d, cap in self.caps.items()},
            "max_record_risk": {f"{d:g}": cap for d, cap in self.record_caps.items()},
            "max_error": dict(self.limits),
            "schemes": [{name: finite(value) for name, value in row.items()} for row in self.rows()],
            "suggestions": [suggestion.to_dict() for suggestion in self.suggestions],
        }

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Risk against loss: every scheme, the frontier and what is suggested; needs matplotlib.

        Parameters
        ----------
        path : path-like, optional
            Where the figure is written as well.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from condmask.plot import risk_against_loss

        return risk_against_loss(self, path)

    def __repr__(self) -> str:
        return f"Plan(n={self.n}, d={self.d}, schemes={len(self.candidates)}, allowed={self.allowed.sum()})"

    def __str__(self) -> str:
        lines = [
            f"{len(self.candidates)} schemes for {self.n:,} records, of which {int(self.allowed.sum())} keep "
            f"the caps",
            "a constant guess reaches "
            + ", ".join(f"{c:.3f} at d = {d:g}" for d, c in zip(self.d, self.constant, strict=True)),
        ]
        for suggestion in self.suggestions:
            errors = getattr(suggestion.expected, self.target)
            names = {
                "mean": "mean", "std": "s.d.", "quantile 0.5": "median", "correlation": "correlation",
                "slope": "slope", "difference": "difference of groups",
            }  # fmt: skip
            errors_listed = ", ".join(f"{names[name]} {errors[name]:.3g}" for name in names if name in errors)
            lines += ["", f"{suggestion.name}: {suggestion.scheme!r}"]
            lines += wrap(suggestion.why, 100, initial_indent="  ", subsequent_indent="  ")
            lines.append(f"  standard errors: {errors_listed}")
        if not self.suggestions:
            lines += ["", f"none is suggested: {self.refusal}"]
        return "\n".join(lines)
