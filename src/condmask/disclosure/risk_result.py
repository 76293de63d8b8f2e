"""How well attackers do, side by side: one attacker a row, one distance a column."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._digits import finite, line
from condmask.disclosure.insiders import insider_risk
from condmask.disclosure.linkage import record_linkage, uniques
from condmask.disclosure.records import RecordRisk, record_risk, wilson
from condmask.disclosure.table import Table
from condmask.errors import ArgumentError

WIDTH = 14  # of a column of the table
RELEASED, MEAN, CONSTANT = "masked value", "mean of masked values", "best constant"
CLEAR, BEST, COINS = "columns in clear", "best attacker", "knows who was swapped"
WHO = {
    RELEASED: "takes the masked value for the original",
    MEAN: "guesses the mean of all masked values for every record",
    CONSTANT: "guesses the same value for every record, and needs no release",
    CLEAR: "learned what the columns in clear tell, and needs no release",
    BEST: "knows the scheme, how the data are distributed, and all that is released",
    COINS: "the same, and knows every coin",
}


@dataclass(frozen=True, eq=False)
class ColumnRisk:
    """The disclosure risk of one column.

    Attributes
    ----------
    name : str
    n : int
        Number of records with a value.
    d : tuple of float
        Distances, in the units of the data.
    attackers : dict of str to ndarray of shape (distances,)
        P(abs(guess - X_i) < d) by attacker: the share of records guessed closer than d.
    most_exposed : ndarray of shape (distances,), optional
        Under reverse mapping: the greatest chance of any record that its released value is nearer than d to
        its original.
    """

    name: str
    n: int
    d: tuple[float, ...]
    attackers: dict[str, np.ndarray]
    most_exposed: np.ndarray | None = None

    def interval(self, attacker: str) -> tuple[np.ndarray, np.ndarray]:
        """Wilson's 95% interval for the share in another file of this kind and size.

        Parameters
        ----------
        attacker : str
            One of `attackers`.

        Returns
        -------
        low, high : ndarray of shape (distances,)
        """
        name = _checks.choice(attacker, "attacker", list(self.attackers))
        return wilson(self.attackers[name], self.n)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for every attacker and distance: risk, its interval, and lift over the best constant."""
        rows = []
        for name, shares in self.attackers.items():
            low, high = self.interval(name)
            for k, d in enumerate(self.d):
                base = float(self.attackers[CONSTANT][k])
                lift = float(shares[k]) / base if base > 0.0 else np.nan
                rows.append({
                    "column": self.name, "attacker": name, "d": d, "risk": float(shares[k]), "lift": lift,
                    "low": float(low[k]), "high": float(high[k]),
                })  # fmt: skip
        return rows

    def lines(self) -> list[str]:
        """The figures as lines of a text."""
        head = max(map(len, WHO)) + 2
        lines = [line(self.name, (f"d = {d:g}" for d in self.d), head=head, width=WIDTH)]
        for name in sorted(self.attackers, key=list(WHO).index):
            shares = (f"{share:.1%}" for share in self.attackers[name])
            lines.append(line(name, shares, head=head, width=WIDTH))
        if self.most_exposed is not None:
            shares = (f"{share:.1%}" for share in self.most_exposed)
            lines.append(line("most exposed record", shares, head=head, width=WIDTH))
        return lines


@dataclass(frozen=True, eq=False, repr=False)
class Risk:
    """The disclosure risk of schemes on a file, or of a release under them.

    Made by `risk`; ``print`` shows it as a table.

    Attributes
    ----------
    n : int
        Number of records.
    columns : dict of str to ColumnRisk
    schemes : dict of str to scheme

    See Also
    --------
    risk : makes one.
    """

    n: int
    columns: dict[str, ColumnRisk]
    schemes: dict[str, Any]
    _table: Table = field(repr=False)
    _released: dict[str, np.ndarray] | None = field(repr=False, default=None)

    def __getitem__(self, name: str) -> ColumnRisk:
        return self.columns[name]

    @property
    def d(self) -> tuple[float, ...]:
        """The distances of the only column."""
        return self.columns[self._only(None)].d

    @property
    def attackers(self) -> dict[str, np.ndarray]:
        """The shares of the only column, by attacker."""
        return self.columns[self._only(None)].attackers

    @property
    def most_exposed(self) -> np.ndarray | None:
        """The most exposed record of the only column."""
        return self.columns[self._only(None)].most_exposed

    def records(self, d: float, column: str | None = None) -> RecordRisk:
        """The best attacker's guess for each record of the release.

        Parameters
        ----------
        d : float
            How near a guess must come to count, in the units of the data.
        column : str, optional
            Which one; not needed where there is one alone.

        Returns
        -------
        RecordRisk

        Raises
        ------
        ValueError
            If `risk` was not given the release.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).laplace(10, 1000, 5_000)
        >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
        >>> found = cm.risk(x, scheme, d=500, released=scheme.mask(x, rng=2)).records(500)
        >>> print(round(float(found.hit.mean()), 1), round(float(found.posterior.mean()), 1))
        0.4 0.4
        """
        name, near = self._only(column), float(_checks.not_negative(d, "d"))
        return record_risk(self._table, name, self.schemes[name], self._of_release()[name], near)

    def insiders(self, column: str | None = None) -> Any:
        """What an insider learns who knows all originals of a donor pool but a few; see `InsiderRisk`.

        Parameters
        ----------
        column : str, optional
            One masked by reverse mapping; not needed where there is one alone.

        Returns
        -------
        InsiderRisk
        """
        name = self._only(column)
        return insider_risk(self._table, name, self.schemes[name], self.columns[name].d)

    def linkage(self, k: Any = (1, 5, 10)) -> Any:
        """How many records of the release can be matched with their originals, by distance; see `Linkage`.

        Parameters
        ----------
        k : int or sequence of int
            Numbers of nearest originals: a record counts as linked if its own is among them.

        Returns
        -------
        Linkage
        """
        return record_linkage(self._table, self._of_release(), k)

    def uniques(self, fraction: float = 1.0) -> Any:
        """How many records are unique in the masked columns, and how many of these a release shows.

        Parameters
        ----------
        fraction : float
            The sampling fraction, if the file is a simple random sample of a population.

        Returns
        -------
        Uniques
        """
        return uniques(self._table, next(iter(self.schemes.values())), fraction)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for every column, attacker and distance."""
        return [row for column in self.columns.values() for row in column.rows()]

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return frames.of_rows(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """The risk in terms of JSON: "n", "risk" with the rows, "most_exposed", "schemes"."""
        exposed = {
            name: None if column.most_exposed is None else column.most_exposed.tolist()
            for name, column in self.columns.items()
        }
        return {
            "n": self.n,
            "of": "scheme" if self._released is None else "release",
            "risk": [{name: finite(value) for name, value in row.items()} for row in self.rows()],
            "most_exposed": exposed,
            "schemes": {name: scheme.to_dict() for name, scheme in self.schemes.items()},
        }

    def _only(self, column: str | None) -> str:
        if column is None and len(self.columns) > 1:
            raise ArgumentError(f"column must be one of {_checks.listed([*self.columns])}, got None")
        return _checks.choice(
            next(iter(self.columns)) if column is None else column, "column", [*self.columns]
        )

    def _of_release(self) -> dict[str, np.ndarray]:
        if self._released is None:
            raise ArgumentError("released must be passed to risk() for figures of a release")
        return self._released

    def __repr__(self) -> str:
        return f"Risk(n={self.n}, columns={list(self.columns)})"

    def __str__(self) -> str:
        what = "a release" if self._released is None else "this release"
        named = {name for column in self.columns.values() for name in column.attackers}
        head = max(map(len, WHO)) + 2
        lines = [f"Share of {self.n:,} records whose value an attacker guesses closer than d, in {what}", ""]
        for column in self.columns.values():
            lines += [*column.lines(), ""]
        lines += [f"{name:{head}}{text}" for name, text in WHO.items() if name in named]
        return "\n".join([*lines, *(f"{name}: {scheme!r}" for name, scheme in self.schemes.items())])
