"""Least squares where any of the columns is masked: estimating equations, and the test of each
coefficient.

With regressors u, a constant among them, and the outcome y the coefficients solve ``A beta = b``,
where A is the mean of u u' and b that of u y over the originals. Each entry is estimated without
bias: of columns in clear as it is, of a masked one with one in clear by pseudo-values, of masked
ones by Theorem 2.1, after reverse mapping by the released values and pairs themselves. Errors
follow from the influence of each record. Write g for what the other regressors leave of one, and r
for the residual, both linear forms of the columns. The equation of a coefficient is that the mean
of their product is 0,

    g r = (G + gamma) (C + rho),

where G and C come from the columns in clear and the means of pools, gamma and rho from the
deviations of masked columns. Its pseudo-value follows by Theorem 2.1 record by record, and the
influence is that less p' times what the record gives to others as their donor. If the coefficient
is larger by delta, and the others are fitted again, the residual is r - delta g: the square of the
test is a quadratic in delta, and the interval is where it does not reject (Fieller 1954;
docs/inference.rst, "Masked regressors").
"""

from itertools import product
from math import comb, prod
from typing import Any

import numpy as np

from condmask.errors import ArgumentError
from condmask.inference.interval import UndefinedError, multiplier
from condmask.linear.chunks import taken
from condmask.linear.masked_table import Rows, Table
from condmask.linear.regress import left_out

DETERMINED = 1e-10  # of a column's square, what the others leave of it where they determine it
MANY = 100_000  # records, with which Wald's interval serves coefficients of columns in clear
TINY = 2.0**-1022
# of a masked regressor, from where on others have bounds: standard errors of what these leave of
# it, and unmasked records that say as much about its covariances
KNOWN = 3.0
ENOUGH = 40.0
FIRST = tuple(product(range(2), repeat=2))  # the orders of gamma and rho in g r
SECOND = tuple(product(range(3), repeat=2))  # and in its square


def fit(table: Table, level: float, target: str) -> tuple[np.ndarray, ...]:
    """The coefficients, that of the constant first, their standard errors, and the ends of their
    intervals.

    Ends are infinite where the records give no bound, and NaN where the error is not known. With
    delta added to a coefficient the test is (left delta)^2 <= c (at + slope delta + bend delta^2).
    """
    products, gram = _products(table)
    _refuse_determined(table, products)
    beta = np.linalg.solve(products[:-1, :-1], products[:-1, -1])
    # times beta: coefficients in units of the data
    wanted = np.diag(table.unit[-1] / table.unit[:-1])
    wanted[0] -= wanted.diagonal() * table.middle[:-1]
    estimate = wanted @ beta + table.middle[-1] * (np.arange(beta.size) == 0)
    others = np.linalg.solve(products[:-1, :-1], wanted.T).T
    left = 1.0 / np.einsum("ij,ij->i", wanted, others)  # d
    estimate[left <= 0.0] = np.nan
    if table.masked.products:
        return estimate, *np.full((3, beta.size), np.nan)
    residual = np.append(-beta, 1.0)
    forms = np.column_stack([others * left[:, None], 0.0 * left])
    masked = [place for place in table.masked.places if place < beta.size]
    own = list(range(beta.size)) if table.n < MANY else masked
    rows = [*range(beta.size), *own, *own]
    step = np.sqrt(np.abs(residual @ products @ residual / left[own]))
    step[step == 0.0] = 1.0
    delta = np.concatenate([np.zeros(beta.size), step, -step])[:, None]
    first = np.vstack([forms[rows], residual])
    second = np.vstack([residual - delta * forms[rows], residual])
    both = _variances(table, first, second, gram, target)
    variances = both[:-1]
    of_square = both[-1]
    if target == "population":
        # at least half the variance of the residuals and its error, as without masking: where
        # donors have much in common, the difference of large numbers that these are may be 0
        least = 0.5 * max(residual @ products @ residual, 0.0) + np.sqrt(max(of_square, 0.0))
        variances = np.maximum(variances, least * left[rows] / table.n)
    at, up, down = np.split(variances, [beta.size, beta.size + step.size])
    slope, bend = np.zeros((2, beta.size))
    slope[own] = (up - down) / (2.0 * step)
    bend[own] = (up + down - 2.0 * at[own]) / (2.0 * step**2)
    c = multiplier(level, table.n - beta.size) ** 2
    square = left**2 - c * bend
    half = 0.5 * c * slope
    worth = table.n**2 * products.diagonal()[:-1] / gram.diagonal()
    hidden = (left <= KNOWN * np.sqrt(np.maximum(bend, 0.0))) | (worth < ENOUGH)
    hidden &= np.isin(np.arange(beta.size), masked)
    bounded = (left > 0.0) & (square > 0.0) & (hidden.sum() - hidden == 0)  # no other hides it
    with np.errstate(invalid="ignore", divide="ignore"):
        reach = np.sqrt(half**2 + square * c * np.maximum(at, 0.0))
        low, high = (
            np.where(bounded, estimate + (half + k * reach) / square, k * np.inf) for k in (-1, 1)
        )
        error = np.sqrt(np.maximum(at, 0.0)) / np.where(left > 0.0, left, np.nan)
    return estimate, error, low, high


def _products(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The mean products of all columns, and the sums of those of the regressors' pseudo-values."""
    masked = table.masked
    places = table.masked.places

    def step(rows: Rows) -> tuple[Any, ...]:
        columns = _undone(table, rows)
        squares = [(t[1] - t[0] ** 2) @ rows.used for t in rows.undone]
        pairs = np.reshape(rows.z[:, None] * rows.z, (len(places) ** 2, rows.used.size))
        sums = (table.by_pool(pairs * each, rows) for each in (rows.here, rows.used))
        return columns @ columns.T, np.array(squares), *sums

    gram, squares, of_pool, of_used = table.fold(step)
    total = gram.copy()
    block = np.ix_(places, places)
    if masked.undone:
        total[places, places] += squares
        if masked.products and (table.size != table.used).any():
            raise UndefinedError(
                "on must have no gaps where reverse mapping masked columns together"
            )
        for pair, covariance in dict(masked.products).items():
            total[pair] = total[pair[::-1]] = covariance * (
                (table.n - 1.0) / table.unit[[*pair]].prod()
            )
    else:
        noise = (1.0 - masked.p) * np.diag(table.noise[:, 2]).reshape(-1, 1)
        original = of_pool / table.some - noise
        own = (of_used - table.used * (table.share * original + noise)) / table.factor
        total[block] += np.sum(own - of_used / table.factor**2, axis=1).reshape(
            len(places), len(places)
        )
    return total / table.n, gram[:-1, :-1]


def _undone(table: Table, rows: Rows) -> np.ndarray:
    """All columns, with pseudo-values in place of masked ones; 0 where a record misses
    something."""
    columns = rows.clear.copy()
    own = rows.undone[:, 0] if table.masked.undone else rows.z / taken(table.factor, rows.pool)
    columns[table.masked.places] += own * rows.used
    return columns


def _refuse_determined(table: Table, products: np.ndarray) -> None:
    """Refuse columns in clear of which others determine one."""
    clear = [place for place in range(len(products) - 1) if place not in table.masked.places]
    length = np.sqrt(products[clear, clear])
    lengths, directions = np.linalg.eigh(products[np.ix_(clear, clear)] / np.outer(length, length))
    if lengths[0] < DETERMINED:
        name = table.names[clear[int(np.abs(directions[:, 0]).argmax())] - 1]
        raise ArgumentError(f"on must have no column that is determined by others, got {name!r}")


def _variances(
    table: Table, g: np.ndarray, c: np.ndarray, gram: np.ndarray, target: str
) -> np.ndarray:
    """The variance of the mean of g r, r the form c, for each of several pairs of forms."""
    masked = table.masked
    drawn_anew = masked.shared_donors and masked.p > 0.0
    orders = SECOND if target == "file" or drawn_anew else FIRST
    noise = _noise_products(table.noise, g[:, masked.places], c[:, masked.places])
    moments, of_g, of_c = _by_pool(table, g, c, noise, orders)
    used = table.used / table.some
    inverse = np.linalg.inv(gram)

    def step(rows: Rows) -> tuple[Any, ...]:
        first = g @ rows.clear
        second = c @ rows.clear
        t = _powers(table, rows, g, c, noise, moments, orders)
        lent, by_g, by_c, there, m = (
            taken(each, rows.pool) for each in (table.share, of_g, of_c, used, moments[1, 1])
        )
        product_of = (first * second, first, second, 1.0)
        given_of = (-there * m, by_g, by_c, there)
        h = rows.used * _of_orders(t, *product_of)
        given = _of_orders(t, *given_of)
        phi = h - lent * given
        squares = 0.0 * h
        extra = 2.0 * lent * first * second * given
        if orders is SECOND:
            times_h, times_given = (
                {order: _of_orders(t, *each, *order) for order in FIRST}
                for each in (product_of, given_of)
            )
            squares = rows.used * _of_orders(times_h, *product_of)
        if drawn_anew:
            extra = lent * (2.0 * rows.used * _of_orders(times_h, *given_of))
            extra -= lent**2 * _of_orders(times_given, *given_of)
        regressors = _undone(table, rows)[:-1]
        apart = 1.0 - np.einsum("ij,ij->j", regressors, inverse @ regressors)
        robust = left_out(phi, apart, first, np.abs(g).max(axis=1))
        return tuple(each.sum(axis=1) for each in (h, phi, phi**2, robust**2, extra, squares))

    h, total, plain, robust, extra, squares = (sums / table.n for sums in table.fold(step))
    if target == "population":
        return np.asarray(robust - total**2 + extra) / table.n
    file = plain - total**2 - squares + h**2 + extra
    return np.asarray(file * robust / np.maximum(plain, TINY)) / table.n


def _by_pool(
    table: Table, g: np.ndarray, c: np.ndarray, noise: Any, orders: Any
) -> tuple[Any, ...]:
    """By pool the moments of gamma and rho over the originals, and the means of G and C."""
    places = table.masked.places

    def step(rows: Rows) -> tuple[Any, ...]:
        one = g[:, places] @ rows.z
        two = c[:, places] @ rows.z
        raw = (table.by_pool(prod([one] * i + [two] * j), rows) for i, j in orders[1:])
        return *raw, table.by_pool(g @ rows.clear, rows), table.by_pool(c @ rows.clear, rows)

    *raw, of_g, of_c = (sums / table.some for sums in table.fold(step))
    moments: dict[Any, Any] = {(0, 0): 1.0}
    for order, mean in zip(orders[1:], raw, strict=True):
        moments[order] = mean - (1.0 - table.masked.p) * _noisy(moments, noise, order)
    return moments, of_g, of_c


def _powers(
    table: Table, rows: Rows, g: np.ndarray, c: np.ndarray, noise: Any, moments: Any, orders: Any
) -> dict[Any, Any]:
    """What has products of powers of gamma and rho as means, by orders: Theorem 2.1 record by
    record."""
    places = table.masked.places
    t = {(0, 0): rows.here}
    if table.masked.undone:
        powers = [rows.here, *rows.undone[0], rows.z[0] ** 4]
        return {(i, j): g[:, places] ** i * c[:, places] ** j * powers[i + j] for i, j in orders}
    one = g[:, places] @ rows.z
    two = c[:, places] @ rows.z
    share = taken(table.share, rows.pool)
    kept = rows.here / taken(table.factor, rows.pool)
    for i, j in orders[1:]:
        others = share * taken(moments[i, j], rows.pool) + (1.0 - table.masked.p) * _noisy(
            t, noise, (i, j)
        )
        t[i, j] = (prod([one] * i + [two] * j) - others) * kept
    return t


def _noisy(of: Any, noise: Any, order: tuple[int, int]) -> Any:
    """What noise adds to the moment or power of this order, from those of lower orders."""
    i, j = order
    within = ((k, m) for k, m in noise if k <= i and m <= j)
    return sum(comb(i, k) * comb(j, m) * noise[k, m] * of[i - k, j - m] for k, m in within)


def _noise_products(noise: np.ndarray, g: np.ndarray, c: np.ndarray) -> Any:
    """The moments of two forms of the noise of columns that are not 0, by orders, of shape (forms,
    1)."""
    square = noise[:, 2]
    fourth = noise[:, 4] - 3.0 * noise[:, 2] ** 2
    found = {(2, 0): g**2 @ square, (1, 1): (g * c) @ square, (0, 2): c**2 @ square}
    found[2, 2] = (g * c) ** 2 @ fourth + found[2, 0] * found[0, 2] + 2.0 * found[1, 1] ** 2
    return {order: moment[:, None] for order, moment in found.items()}


def _of_orders(
    t: Any, constant: Any, by_rho: Any, by_gamma: Any, by_both: Any, i: int = 0, j: int = 0
) -> Any:
    """The pseudo-value of constant + by_rho rho + by_gamma gamma + by_both gamma rho, times
    gamma^i rho^j."""
    return (
        constant * t[i, j]
        + by_rho * t[i, j + 1]
        + by_gamma * t[i + 1, j]
        + by_both * t[i + 1, j + 1]
    )
