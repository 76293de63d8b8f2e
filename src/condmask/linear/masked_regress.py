"""Fits least squares where some columns are masked, and tests each coefficient.

With regressors u, a constant among them, and the outcome y, the coefficients solve ``A beta = b``,
where A is the mean of u u' and b that of u y over the originals. Each entry is estimated without
bias: from unmasked columns directly, for a masked and an unmasked column by pseudo-values, for two
masked columns by Theorem 2.1 of Ghatak & Roy, and after reverse mapping by the released values and
pairs themselves. Errors follow from the influence of each record. Write g for the residual of one
regressor on the others, and r for the residual of the outcome; both are linear forms of the
columns. The equation of a coefficient is that the mean of their product is 0,

    g r = (G + gamma) (C + rho),

where G and C come from the unmasked columns and the means of pools, gamma and rho from the
deviations of masked columns. Its pseudo-value follows by Theorem 2.1 record by record, and the
influence is the pseudo-value less p' times the contribution of the record to others as their
donor. If the coefficient is larger by delta, and the others are fitted again, the residual is
r - delta g: the square of the test is a quadratic in delta, and the interval is where the test
does not reject (Fieller 1954; docs/inference.rst, "Masked regressors").
"""

from collections.abc import Mapping
from math import comb, prod

import numpy as np

from condmask.errors import ArgumentError
from condmask.inference.interval import UndefinedError, multiplier
from condmask.linear.chunks import taken
from condmask.linear.masked_table import Rows, Table
from condmask.linear.regress import hc3_contributions

MIN_EIGENVALUE = 1e-10  # of products of columns of length 1: below, others determine a column
MIN_WALD_RECORDS = 100_000  # from which on Wald's interval serves for unmasked columns
SMALLEST_NORMAL = 2.0**-1022
# a masked regressor leaves the coefficients of others without bounds unless its residual on the
# others exceeds so many standard errors, and unless it carries the information of so many
# unmasked records
MIN_STANDARD_ERRORS = 3.0
MIN_UNMASKED_RECORDS = 40.0

Order = tuple[int, int]  # exponents of gamma and rho
RecordFigures = np.ndarray | float
ByOrder = Mapping[Order, RecordFigures]
Form = tuple[
    RecordFigures, RecordFigures, RecordFigures, RecordFigures
]  # the factors of 1, rho, gamma and gamma rho
LINEAR: tuple[Order, ...] = tuple((i, j) for i in range(2) for j in range(2))  # the orders in g r
QUADRATIC: tuple[Order, ...] = tuple(
    (i, j) for i in range(3) for j in range(3)
)  # the orders in its square


def fit(table: Table, level: float, target: str) -> tuple[np.ndarray, ...]:
    """Fit the regression and return, for each coefficient, the constant's first, figures in units
    of the data.

    With delta added to a coefficient, the test accepts if
    ``(left delta)^2 <= c (at + slope delta + bend delta^2)``.

    Returns
    -------
    estimate, error, low, high : ndarray of shape (coefficients,)
        Ends are infinite where the records give no bound, and NaN where the error is not known.
    """
    products, gram = _products(table)
    _refuse_determined(table, products)
    beta = np.linalg.solve(products[:-1, :-1], products[:-1, -1])
    # its product with beta: coefficients in units of the data
    to_data_units = np.diag(table.unit[-1] / table.unit[:-1])
    to_data_units[0] -= to_data_units.diagonal() * table.middle[:-1]
    estimate = to_data_units @ beta + table.middle[-1] * (np.arange(beta.size) == 0)
    others = np.linalg.solve(products[:-1, :-1], to_data_units.T).T
    left = 1.0 / np.einsum("ij,ij->i", to_data_units, others)  # d
    estimate[left <= 0.0] = np.nan
    if table.masked.products:
        return estimate, *np.full((3, beta.size), np.nan)
    masked = [place for place in table.masked.places if place < beta.size]
    tested = list(range(beta.size)) if table.n < MIN_WALD_RECORDS else masked
    forms = np.column_stack([others * left[:, None], 0.0 * left])
    residual = np.append(-beta, 1.0)
    at, slope, bend = _variances_of_tests(
        table, products, gram, residual, forms, left, tested, target
    )
    c = multiplier(level, table.n - beta.size) ** 2
    square = left**2 - c * bend
    half = 0.5 * c * slope
    information = table.n**2 * products.diagonal()[:-1] / gram.diagonal()
    hidden = left <= MIN_STANDARD_ERRORS * np.sqrt(np.maximum(bend, 0.0))
    hidden |= information < MIN_UNMASKED_RECORDS
    hidden &= np.isin(np.arange(beta.size), masked)
    # a coefficient has bounds unless another regressor is hidden
    bounded = (left > 0.0) & (square > 0.0) & (hidden.sum() - hidden == 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        reach = np.sqrt(half**2 + square * c * np.maximum(at, 0.0))
        low, high = (
            np.where(bounded, estimate + (half + k * reach) / square, k * np.inf) for k in (-1, 1)
        )
        error = np.sqrt(np.maximum(at, 0.0)) / np.where(left > 0.0, left, np.nan)
    return estimate, error, low, high


def _variances_of_tests(
    table: Table,
    products: np.ndarray,
    gram: np.ndarray,
    residual: np.ndarray,
    forms: np.ndarray,
    left: np.ndarray,
    tested: list[int],
    target: str,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each coefficient, the variance of its equation as a quadratic in delta.

    Parameters
    ----------
    table : Table
    products, gram : ndarray
        As `_products` returns them.
    residual : ndarray of shape (columns,)
        The linear form r.
    forms : ndarray of shape (coefficients, columns)
        The linear forms g.
    left : ndarray of shape (coefficients,)
        The mean square of g.
    tested : list of int
        The coefficients for which the variance depends on delta; for others it is constant.
    target : {"population", "file"}

    Returns
    -------
    at, slope, bend : ndarray of shape (coefficients,)
        The variance at delta = 0, and the factors of delta and its square.
    """
    count = len(forms)
    rows = [*range(count), *tested, *tested]
    step = np.sqrt(np.abs(residual @ products @ residual / left[tested]))
    step[step == 0.0] = 1.0
    delta = np.concatenate([np.zeros(count), step, -step])[:, None]
    first = np.vstack([forms[rows], residual])
    second = np.vstack([residual - delta * forms[rows], residual])
    both = _product_variances(table, first, second, gram, target)
    variances = both[:-1]
    of_square = both[-1]
    if target == "population":
        # at least half the variance of the residuals and its error, as without masking: where
        # donors are few, the variances are differences of large numbers and may come out as 0
        least = 0.5 * max(residual @ products @ residual, 0.0) + np.sqrt(max(of_square, 0.0))
        variances = np.maximum(variances, least * left[rows] / table.n)
    at, up, down = np.split(variances, [count, count + step.size])
    slope, bend = np.zeros((2, count))
    slope[tested] = (up - down) / (2.0 * step)
    bend[tested] = (up + down - 2.0 * at[tested]) / (2.0 * step**2)
    return at, slope, bend


def _products(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimated mean products of all originals, and the sums of products of the
    regressors' pseudo-values."""
    masked = table.masked
    places = table.masked.places

    def step(rows: Rows) -> tuple[np.ndarray, ...]:
        columns = _with_pseudo_values(table, rows)
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
        for pair, covariance in masked.products.items():
            i, j = pair
            scaled = covariance * ((table.n - 1.0) / table.unit[[i, j]].prod())
            total[i, j] = scaled
            total[j, i] = scaled
    else:
        noise = (1.0 - masked.p) * np.diag(table.noise[:, 2]).reshape(-1, 1)
        original = of_pool / table.some - noise
        undone = (of_used - table.used * (table.share * original + noise)) / table.factor
        total[block] += np.sum(undone - of_used / table.factor**2, axis=1).reshape(
            len(places), len(places)
        )
    return total / table.n, gram[:-1, :-1]


def _with_pseudo_values(table: Table, rows: Rows) -> np.ndarray:
    """Return all columns, with pseudo-values in place of masked ones, and 0 in records with a
    missing value."""
    columns = rows.clear.copy()
    factor = taken(table.factor, rows.pool)
    deviations = rows.undone[:, 0] if table.masked.undone else rows.z / factor
    columns[table.masked.places] += deviations * rows.used
    return columns


def _refuse_determined(table: Table, products: np.ndarray) -> None:
    """Refuse unmasked columns if one is determined by the others."""
    clear = [place for place in range(len(products) - 1) if place not in table.masked.places]
    length = np.sqrt(products[clear, clear])
    lengths, directions = np.linalg.eigh(products[np.ix_(clear, clear)] / np.outer(length, length))
    if lengths[0] < MIN_EIGENVALUE:
        name = table.names[clear[int(np.abs(directions[:, 0]).argmax())] - 1]
        raise ArgumentError(f"on must have no column that is determined by others, got {name!r}")


def _product_variances(
    table: Table, g: np.ndarray, c: np.ndarray, gram: np.ndarray, target: str
) -> np.ndarray:
    """Return the variance of the mean of g r for several pairs of linear forms g and r = c.

    Parameters
    ----------
    table : Table
    g, c : ndarray of shape (forms, columns)
    gram : ndarray of shape (regressors, regressors)
        The sums of products of the regressors' pseudo-values.
    target : {"population", "file"}

    Returns
    -------
    ndarray of shape (forms,)
    """
    masked = table.masked
    drawn_anew = masked.shared_donors and masked.p > 0.0
    orders = QUADRATIC if target == "file" or drawn_anew else LINEAR
    noise = _noise_products(table.noise, g[:, masked.places], c[:, masked.places])
    moments, of_g, of_c = _moments_by_pool(table, g, c, noise, orders)
    used = table.used / table.some
    of_both = np.asarray(moments[1, 1])
    inverse = np.linalg.inv(gram)

    def step(rows: Rows) -> tuple[np.ndarray, ...]:
        first = g @ rows.clear
        second = c @ rows.clear
        t = _undone_powers(table, rows, g, c, noise, moments, orders)
        lent, by_g, by_c, share_used, m = (
            taken(each, rows.pool) for each in (table.share, of_g, of_c, used, of_both)
        )
        product_of = (first * second, first, second, 1.0)
        given_of = (-share_used * m, by_g, by_c, share_used)
        h = rows.used * _combined(t, product_of)
        given = _combined(t, given_of)
        phi = h - lent * given
        squares = 0.0 * h
        extra = 2.0 * lent * first * second * given
        if orders is QUADRATIC:
            times_h, times_given = (
                {order: _combined(t, each, order) for order in LINEAR}
                for each in (product_of, given_of)
            )
            squares = rows.used * _combined(times_h, product_of)
        if drawn_anew:
            extra = lent * (2.0 * rows.used * _combined(times_h, given_of))
            extra -= lent**2 * _combined(times_given, given_of)
        regressors = _with_pseudo_values(table, rows)[:-1]
        apart = 1.0 - np.einsum("ij,ij->j", regressors, inverse @ regressors)
        robust = hc3_contributions(phi, apart, first, np.abs(g).max(axis=1))
        return tuple(each.sum(axis=1) for each in (h, phi, phi**2, robust**2, extra, squares))

    h, total, plain, robust, extra, squares = (sums / table.n for sums in table.fold(step))
    if target == "population":
        return np.asarray(robust - total**2 + extra) / table.n
    file = plain - total**2 - squares + h**2 + extra
    return np.asarray(file * robust / np.maximum(plain, SMALLEST_NORMAL)) / table.n


def _moments_by_pool(
    table: Table, g: np.ndarray, c: np.ndarray, noise: ByOrder, orders: tuple[Order, ...]
) -> tuple[ByOrder, np.ndarray, np.ndarray]:
    """Return, by pool, the moments of gamma and rho over the originals, and the means of G and
    C."""
    places = table.masked.places

    def step(rows: Rows) -> tuple[np.ndarray, ...]:
        one = g[:, places] @ rows.z
        two = c[:, places] @ rows.z
        raw = (table.by_pool(prod([one] * i + [two] * j), rows) for i, j in orders[1:])
        return *raw, table.by_pool(g @ rows.clear, rows), table.by_pool(c @ rows.clear, rows)

    *raw, of_g, of_c = (sums / table.some for sums in table.fold(step))
    moments: dict[Order, RecordFigures] = {(0, 0): 1.0}
    for order, mean in zip(orders[1:], raw, strict=True):
        moments[order] = mean - (1.0 - table.masked.p) * _added_by_noise(moments, noise, order)
    return moments, of_g, of_c


def _undone_powers(
    table: Table,
    rows: Rows,
    g: np.ndarray,
    c: np.ndarray,
    noise: ByOrder,
    moments: ByOrder,
    orders: tuple[Order, ...],
) -> ByOrder:
    """Return, for each order (i, j), a record-wise unbiased estimate of gamma^i rho^j (Theorem
    2.1)."""
    places = table.masked.places
    t: dict[Order, RecordFigures] = {(0, 0): rows.here}
    if table.masked.undone:
        powers = [rows.here, *rows.undone[0], rows.z[0] ** 4]
        return {(i, j): g[:, places] ** i * c[:, places] ** j * powers[i + j] for i, j in orders}
    one = g[:, places] @ rows.z
    two = c[:, places] @ rows.z
    share = taken(table.share, rows.pool)
    kept = rows.here / taken(table.factor, rows.pool)
    for i, j in orders[1:]:
        others = share * taken(np.asarray(moments[i, j]), rows.pool) + (
            1.0 - table.masked.p
        ) * _added_by_noise(t, noise, (i, j))
        t[i, j] = (prod([one] * i + [two] * j) - others) * kept
    return t


def _added_by_noise(of: ByOrder, noise: ByOrder, order: Order) -> RecordFigures:
    """Return the part that noise adds to the moment or power `of` this order, given lower
    orders."""
    i, j = order
    within = ((k, m) for k, m in noise if k <= i and m <= j)
    return sum(comb(i, k) * comb(j, m) * noise[k, m] * of[i - k, j - m] for k, m in within)


def _noise_products(noise: np.ndarray, g: np.ndarray, c: np.ndarray) -> ByOrder:
    """Return by order the moments, if not 0, of two linear forms of the noise, of shape (forms,
    1)."""
    square = noise[:, 2]
    fourth = noise[:, 4] - 3.0 * noise[:, 2] ** 2
    moments = {(2, 0): g**2 @ square, (1, 1): (g * c) @ square, (0, 2): c**2 @ square}
    moments[2, 2] = (
        (g * c) ** 2 @ fourth + moments[2, 0] * moments[0, 2] + 2.0 * moments[1, 1] ** 2
    )
    return {order: moment[:, None] for order, moment in moments.items()}


def _combined(t: ByOrder, form: Form, order: Order = (0, 0)) -> np.ndarray:
    """Return the pseudo-value of a form times gamma^i rho^j, of order (i, j)."""
    constant, by_rho, by_gamma, by_both = form
    i, j = order
    return np.asarray(
        constant * t[i, j]
        + by_rho * t[i, j + 1]
        + by_gamma * t[i + 1, j]
        + by_both * t[i + 1, j + 1]
    )
