"""How well attackers do, side by side: one attacker a row, one distance a column."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._digits import finite, line

LEVEL = 0.95
WIDTH = 14  # of a column of the table


@dataclass(frozen=True, eq=False, repr=False)
class Risk:
    """The disclosure risk of a scheme on a file, or of a release under it.

    Made by `risk` and `release_risk`; ``print`` shows it as a table.

    Attributes
    ----------
    of : {"scheme", "release"}
        Whether the figures are expectations for any release of the file, or were found in one release.
    n : int
        Number of records.
    d : tuple of float
        Distances, in the units of the data.
    attackers : dict of str to ndarray of shape (distances,)
        P(abs(guess - X_i) < d) by attacker: the share of records guessed closer than d.
    records : dict of str to int
        The number of records behind each share: all, or those on which the attacker was tried.
    audit : Audit or None
        How well an attacker can tell which records were swapped.
    verbatim : Verbatim or None
        Which original values the release shows unchanged.
    scheme : scheme
        The scheme of the release.
    most_exposed : ndarray of shape (distances,), optional
        For a scheme with reverse mapping: the greatest chance that any record's released value is nearer
        than d to its original.

    See Also
    --------
    risk, release_risk : make one.
    """

    of: str
    n: int
    d: tuple[float, ...]
    attackers: dict[str, np.ndarray]
    records: dict[str, int]
    audit: Any
    verbatim: Any
    scheme: Any
    most_exposed: np.ndarray | None = None

    @property
    def lift(self) -> dict[str, np.ndarray]:
        """The share of each attacker, divided by that of the best constant."""
        base = self.attackers[CONSTANT]
        with np.errstate(divide="ignore", invalid="ignore"):
            return {name: risk / base for name, risk in self.attackers.items()}

    @property
    def low(self) -> dict[str, np.ndarray]:
        """The lower ends of 95% intervals: see `interval`."""
        return {name: self.interval(name)[0] for name in self.attackers}

    @property
    def high(self) -> dict[str, np.ndarray]:
        """The upper ends of 95% intervals: see `interval`."""
        return {name: self.interval(name)[1] for name in self.attackers}

    def interval(self, attacker: str) -> tuple[np.ndarray, np.ndarray]:
        """A 95% interval for the share in another file of this kind and size.

        Parameters
        ----------
        attacker : str
            One of `attackers`.

        Returns
        -------
        low, high : ndarray of shape (distances,)
            Wilson's interval. It treats the records that are guessed rightly as independent, which is about
            right; for one file kept fixed, hits vary less.
        """
        name = _checks.choice(attacker, "attacker", list(self.attackers))
        return wilson(self.attackers[name], self.records[name])

    def rows(self) -> list[dict[str, Any]]:
        """A dict for every attacker and distance: risk, lift over the best constant, interval, records."""
        rows = []
        for name, risk in self.attackers.items():
            low, high = self.interval(name)
            for k, d in enumerate(self.d):
                rows.append({
                    "attacker": name, "d": d, "risk": float(risk[k]), "lift": float(self.lift[name][k]),
                    "low": float(low[k]), "high": float(high[k]), "records": self.records[name],
                })  # fmt: skip
        return rows

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return frames.of_rows(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """The risk in terms of JSON.

        Returns
        -------
        dict
            "of", "n", "d", "risk" with a dict for every attacker and distance, "verbatim",
            "most_exposed", "audit",
            "scheme".
        """
        return {
            "of": self.of,
            "n": self.n,
            "d": list(self.d),
            "risk": [{name: finite(value) for name, value in row.items()} for row in self.rows()],
            "verbatim": None if self.verbatim is None else self.verbatim._asdict(),
            "most_exposed": None if self.most_exposed is None else self.most_exposed.tolist(),
            "audit": None if self.audit is None else self.audit.to_dict(),
            "scheme": self.scheme.to_dict(),
        }

    def __repr__(self) -> str:
        return f"Risk(of={self.of!r}, n={self.n}, d={self.d}, attackers={list(self.attackers)})"

    def __str__(self) -> str:
        head = max(map(len, self.attackers)) + 2
        what = "a release" if self.of == "scheme" else "this release"
        lines = [
            f"Share of {self.n:,} records whose value an attacker guesses closer than d, in {what}",
            "(below each share its 95% interval)",
            "",
            line("attacker", (f"d = {d:g}" for d in self.d), head=head, width=WIDTH),
        ]
        for name, risk in self.attackers.items():
            ends = zip(*self.interval(name), strict=True)
            lines.append(line(name, (f"{share:.1%}" for share in risk), head=head, width=WIDTH))
            ranges = (f"{100.0 * low:.1f}-{high:.1%}" for low, high in ends)
            lines.append(line("", ranges, head=head, width=WIDTH))
        lines.append(f"times as many as by the {CONSTANT}")
        for name, lift in self.lift.items():
            if name != CONSTANT:
                lines.append(line(f"  {name}", (f"{times:.2f}" for times in lift), head=head, width=WIDTH))
        lines += ["", *(f"{name:{head}}{WHO[name]}" for name in self.attackers)]
        if self.most_exposed is not None:
            exposed = ", ".join(
                f"{chance:.1%} for d = {d:g}" for d, chance in zip(self.d, self.most_exposed, strict=True)
            )
            lines += [
                "",
                "the most exposed record: the chance that its released value is closer than d to its own is "
                f"{exposed}",
            ]
        if self.verbatim is not None:
            lines += ["", *self.verbatim.lines()]
        if self.audit is not None:
            refused = "; masking would REFUSE this release" if self.audit.visible else ""
            lines.append(
                f"swap status guessed right for {self.audit.guessed:.1%} of the records "
                f"({self.audit.blind:.1%} blindly){refused}"
            )
        return "\n".join([*lines, f"scheme {self.scheme!r}"])


RELEASED, MEAN, CONSTANT = "masked value", "mean of masked values", "best constant"
BEST, LINKED, TRAINED = "best attacker", "best with other columns", "trained attacker"
ALL = "best with all other columns"
WHO = {
    RELEASED: "takes the masked value for the original",
    MEAN: "guesses the mean of all masked values for every record",
    CONSTANT: "guesses the same value for every record, and needs no release",
    BEST: "knows the scheme and how the data are distributed, makes the most of the masked value",
    LINKED: "the same, and also knows other columns of the record",
    ALL: "the same, and also knows all other columns of the record",
    TRAINED: "learned from releases of half of the file which guesses are near",
}


def wilson(share: np.ndarray, n: int, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval of shares of n records."""
    from scipy.special import ndtri  # takes .1 s to import

    z = float(ndtri(0.5 + 0.5 * level))
    middle = (share + 0.5 * z * z / n) / (1.0 + z * z / n)
    reach = z / (1.0 + z * z / n) * np.sqrt(np.maximum(share * (1.0 - share), 0.0) / n + 0.25 * z * z / n**2)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
