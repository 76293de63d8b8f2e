"""Hold the shares of records that attackers guess, and show them: attackers by distances."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from condmask import _checks
from condmask._digits import line, preformatted
from condmask.disclosure.column.insiders import InsiderRisk, insider_risk
from condmask.disclosure.column.joint_law import JointLaw
from condmask.disclosure.column.linkage import Linkage, Uniques, record_linkage, uniques, wilson
from condmask.disclosure.unmasked import Table
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.strata import values_by_pool

RISK_CELL_WIDTH = 14  # of a column of the table
ATTACKERS = {
    "masked value": "takes the masked value for the original",
    "mean of masked values": "guesses the mean of all masked values for every record",
    "best constant": "guesses one value for every record, and needs no release",
    "columns in clear": "guesses from the columns in clear, and needs no release",
    "best attacker": "knows the scheme, the distribution of the data, and the whole release",
    "knows who was swapped": "knows all this, and which records were swapped",
}
MASKED_VALUE, MEAN_OF_MASKED, BEST_CONSTANT, COLUMNS_IN_CLEAR, BEST_ATTACKER, KNOWS_SWAPPED = (
    ATTACKERS
)
ATTACKER_WIDTH = max(map(len, ATTACKERS)) + 2


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
    tried : int
        Number of records on which attackers who know more than a constant were tried: beside other
        columns some of the records.
    most_exposed : ndarray of shape (distances,), optional
        Under reverse mapping: the greatest chance of any record that its released value is nearer
        than d to its original.
    """

    name: str
    n: int
    d: tuple[float, ...]
    attackers: dict[str, np.ndarray]
    tried: int
    most_exposed: np.ndarray | None = None

    def interval(self, attacker: str) -> tuple[np.ndarray, np.ndarray]:
        """Return Wilson's 95% interval for the share in the population that the file samples.

        An attacker who was tried on some of the records has the interval of these.

        Parameters
        ----------
        attacker : str
            One of `attackers`.

        Returns
        -------
        low, high : ndarray of shape (distances,)
        """
        name = _checks.choice(attacker, "attacker", list(self.attackers))
        return wilson(
            self.attackers[name],
            self.n if name in (MASKED_VALUE, MEAN_OF_MASKED, BEST_CONSTANT) else self.tried,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for every attacker and distance: the risk and its interval."""
        return [
            {"column": self.name, "attacker": name, "d": d, "risk": risk, "low": low, "high": high}
            for name, shares in self.attackers.items()
            for d, risk, low, high in np.transpose([self.d, shares, *self.interval(name)]).tolist()
        ]


@dataclass(frozen=True, eq=False, repr=False)
class RecordRisk:
    """The best attacker's guess for each record of a release, which must remain confidential.

    Attributes
    ----------
    d : float
        How near a guess must come to count, in the units of the data.
    rows : ndarray of shape (records,)
        Positions of the records in the file; records without an original or a masked value are
        left out.
    guess : ndarray of shape (records,)
        The guess: the middle of the attacker's interval of width 2 d.
    posterior : ndarray of shape (records,)
        The attacker's probability that the original is closer than d to the guess.
    hit : ndarray of bool
        Whether the original is closer than d to the guess.
    """

    d: float
    rows: np.ndarray
    guess: np.ndarray
    posterior: np.ndarray
    hit: np.ndarray

    def exposed(self, k: int = 10) -> np.ndarray:
        """Return the positions of the k rightly guessed records of which the attacker is surest.

        The surest comes first.
        """
        most = _checks.integer(k, "k", least=1)
        hits = np.flatnonzero(self.hit)
        return np.asarray(self.rows[hits[np.argsort(-self.posterior[hits], kind="stable")[:most]]])


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

    def column(self, name: str | None = None) -> ColumnRisk:
        """Return a column by its name, which may be left out if there is only one."""
        only = next(iter(self.columns)) if name is None and len(self.columns) == 1 else name
        return self.columns[_checks.choice(only, "column", [*self.columns])]

    @property
    def attackers(self) -> dict[str, np.ndarray]:
        """Return the shares of the only column, by attacker."""
        return self.column().attackers

    @property
    def most_exposed(self) -> np.ndarray | None:
        """Return the risk of the most exposed record of the only column, by distance."""
        return self.column().most_exposed

    def records(self, d: float, column: str | None = None) -> RecordRisk:
        """Return the best attacker's guess for each record of the release.

        Parameters
        ----------
        d : float
            How near a guess must come to count, in the units of the data.
        column : str, optional
            May be left out if there is only one.

        Returns
        -------
        RecordRisk

        Raises
        ------
        ValueError
            If `risk` was not given the release.
        TypeError
            If the distribution of the scheme's noise is unknown.

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
        name = self.column(column).name
        near = float(_checks.not_below_zero(d, "d"))
        z = self._of_release()[name]
        scheme = self.schemes[name]
        rule = "records need a scheme whose noise has a known law"
        _checks.require(
            scheme.reverse_mapping or scheme.law is not None, rule, scheme, ArgumentTypeError
        )
        x = np.where(np.isnan(z), np.nan, self._table.values[name])
        found = np.full((3, z.size), np.nan)
        for rows, values in values_by_pool(x, self._table.pool):
            found[:, rows] = JointLaw.of(values, scheme).guesses(values, z[rows], near)
        there = np.flatnonzero(~np.isnan(x))
        guess, posterior, hit = found[:, there]
        return RecordRisk(near, there, guess, posterior, hit == 1.0)

    def insiders(self, column: str | None = None) -> InsiderRisk:
        """Simulate an insider who knows all but a few of the originals in a donor pool.

        Parameters
        ----------
        column : str, optional
            A column masked by reverse mapping; may be left out if there is only one.

        Returns
        -------
        InsiderRisk
        """
        of = self.column(column)
        return insider_risk(self._table, of.name, self.schemes[of.name], of.d)

    def linkage(self, k: int | Sequence[int] = (1, 5, 10)) -> Linkage:
        """Match the records of the release with their nearest originals.

        Parameters
        ----------
        k : int or sequence of int
            Numbers of nearest originals: a record counts as linked if its own is among them.

        Returns
        -------
        Linkage
        """
        return record_linkage(self._table, self._of_release(), k)

    def uniques(self, fraction: float = 1.0) -> Uniques:
        """Count the records that are unique in the masked columns, and those a release may show.

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
        """Return a dict for every column, attacker and distance."""
        return [row for column in self.columns.values() for row in column.rows()]

    def to_dict(self) -> dict[str, Any]:
        """Return the risk in terms of JSON: "n", "risk" with the rows, "most_exposed",
        "schemes"."""
        exposed = {name: column.most_exposed for name, column in self.columns.items()}
        return {
            "n": self.n,
            "of": "scheme" if self._released is None else "release",
            "risk": self.rows(),
            "most_exposed": {
                name: None if most is None else most.tolist() for name, most in exposed.items()
            },
            "schemes": {name: scheme.to_dict() for name, scheme in self.schemes.items()},
        }

    def _of_release(self) -> dict[str, np.ndarray]:
        if self._released is None:
            raise ArgumentError("released must be passed to risk() for figures of a release")
        return self._released

    def _repr_html_(self) -> str:
        """Return the text for notebooks."""
        return preformatted(repr(self))

    def __repr__(self) -> str:
        return f"Risk(n={self.n}, columns={list(self.columns)})"

    def __str__(self) -> str:
        what = "a release" if self._released is None else "this release"
        lines = [
            f"Share of {self.n:,} records whose value an attacker guesses closer than d, in "
            f"{what}",
            "",
        ]
        for name, column in self.columns.items():
            who = [each for each in ATTACKERS if each in column.attackers]
            shares = {each: column.attackers[each] for each in who}
            if column.most_exposed is not None:
                shares["most exposed record"] = column.most_exposed
            cells = {name: [f"d = {d:g}" for d in column.d]}
            cells |= {each: [f"{share:.1%}" for share in row] for each, row in shares.items()}
            lines += [
                *(
                    line(label, row, head=ATTACKER_WIDTH, width=RISK_CELL_WIDTH)
                    for label, row in cells.items()
                ),
                "",
            ]
        lines += [
            f"{each:{ATTACKER_WIDTH}}{ATTACKERS[each]}" for each in who
        ]  # the same for all columns
        return "\n".join(
            [*lines, *(f"{name}: {scheme!r}" for name, scheme in self.schemes.items())]
        )
