"""What attackers achieve, side by side: one attacker a row, one distance a column."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from condmask import frames
from condmask._digits import finite, line

LEVEL = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class Risk:
    """The disclosure risk of a scheme on a file, or of a release under it.

    Made by `risk` and `release_risk`; ``print`` shows it as a table.

    Attributes
    ----------
    of : {"scheme", "release"}
        Whether it is what is expected of a release of the file, or what was found in one.
    n : int
        Records.
    d : tuple of float
        Distances, in the units of the data.
    attackers : dict of str to ndarray of shape (distances,)
        P(abs(guess - X_i) < d) by attacker: the share of records that he comes so near.
    records : dict of str to int
        How many records each share is of: all, or those that an attacker was tried on.
    audit : Audit or None
        How well an attacker can tell which records were swapped.
    verbatim : Verbatim or None
        What of the originals stands in the release as it is.
    scheme : scheme
        Of the release.
    most_exposed : ndarray of shape (distances,), optional
        Of a scheme with reverse mapping: the greatest chance of a record that what is released for it is
        nearer than d to its original.

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
        """How many times as many records as the best constant each attacker comes near."""
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
        """Between which shares lies that of another file of the same kind, of so many records, once released.

        Parameters
        ----------
        attacker : str
            One of `attackers`.

        Returns
        -------
        low, high : ndarray of shape (distances,)
            Wilson's interval, of 95%. It takes the records that are hit to be independent, which is about
            right: of one file kept fixed, hits vary less.
        """
        return wilson(self.attackers[attacker], self.records[attacker])

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
        lines = [f"Share of {self.n:,} records that an attacker comes nearer than d, in {what}", ""]
        lines.append(line("d", (f"{d:g}" for d in self.d), head=head))
        for name, risk in self.attackers.items():
            ends = zip(*self.interval(name), strict=True)
            lines.append(line(name, (f"{share:.3f}" for share in risk), head=head))
            lines.append(line("", (f"{low:.3f}-{high:.3f}" for low, high in ends), head=head))
        lines.append("over the best constant")
        for name, lift in self.lift.items():
            if name != CONSTANT:
                lines.append(line(f"  {name}", (f"{times:.2f}x" for times in lift), head=head))
        if self.most_exposed is not None:
            exposed = (f"{chance:.3f}" for chance in self.most_exposed)
            lines.append(line("the most exposed record", exposed, head=head))
        if self.verbatim is not None:
            lines += ["", *self.verbatim.lines()]
        if self.audit is not None:
            guessed, blind = f"{self.audit.guessed:.1%}", f"{self.audit.blind:.1%} blindly"
            visible = ", VISIBLE" if self.audit.visible else ""
            lines.append(f"swapped or not, guessed right {guessed} ({blind}){visible}")
        return "\n".join([*lines, f"scheme {self.scheme!r}"])


RELEASED, MEAN, CONSTANT = "masked value", "mean of masked values", "best constant"
BEST, LINKED, TRAINED = "best attacker", "best with other columns", "trained attacker"


def wilson(share: np.ndarray, n: int, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval of shares of n records."""
    from scipy.special import ndtri  # takes .1 s to import

    z = float(ndtri(0.5 + 0.5 * level))
    middle = (share + 0.5 * z * z / n) / (1.0 + z * z / n)
    reach = z / (1.0 + z * z / n) * np.sqrt(np.maximum(share * (1.0 - share), 0.0) / n + 0.25 * z * z / n**2)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
