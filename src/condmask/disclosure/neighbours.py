r"""The attacker who also knows columns of the record that are not masked: the realistic one.

Records that are near each other in those columns are also alike in what is masked. The attacker takes the
nearest ones (in columns standardised to unit variance) for a local law of X, and then, as without columns,

    the record swapped, X anywhere in the local law,     with weight    p f(z)
    kept, X in the local law and z = X + Y,              with weight    (1 - p) (f_local * phi)(z)

The local law is made of k records, spread by a normal kernel to tell noise from spread. The number of
neighbours is chosen on one half of the records, and its success counted on the other. The same holds for the
columns in which they are near: all, each by itself, and the best ones together, added one after the other, so
that a useless column does not hide a useful one. Approximations make the attacker weaker; right guesses are
counted, not computed.
"""

import numpy as np

from condmask._blocks import blocks, evenly_spaced
from condmask.disclosure.original import Original
from condmask.disclosure.record_posteriors import RecordPosteriors
from condmask.kernels.windows import best_of_points

NUMBERS = (8, 16, 64, 256)  # of neighbours that are tried
MOST_COLUMNS = 16  # that are tried one by one
NODES, WEIGHTS = np.array([-1.7320508, 0.0, 1.7320508]), np.array([1.0, 4.0, 1.0]) / 6.0  # of a normal law
KNOWN = 1 << 19  # records, among which neighbours are sought
CHUNK, TOGETHER = 1 << 18, 1 << 10  # points, and records whose neighbours are sought, at a time
# Equal records, those of one label say, would share a leaf of the tree and be searched one by one: 10 s for
# two labels in a million records. So they are kept apart, by far less than unequal values are.
TIES, GOLDEN = 1e-6, 0.6180339887498949


def standardised(columns: list[np.ndarray]) -> np.ndarray:
    """A row for each record: columns of unit variance, missing values at the mean.

    Constant columns are left out; where values are missing is a column of its own.
    """
    parts = []
    for column in columns:
        present = ~np.isnan(column)
        if not present.all() and present.any():
            parts.append(present.astype(np.float64))
        parts.append(np.where(present, column, column[present].mean() if present.any() else 0.0))
    varying = [(part - part.mean()) / part.std() for part in parts if part.std() > 0.0]
    return np.column_stack(varying) if varying else np.zeros((columns[0].size, 1))


def by_neighbours(
    file: Original, z: np.ndarray, rows: np.ndarray, others: list[np.ndarray], posteriors: RecordPosteriors,
    d: np.ndarray, swapped: np.ndarray | None = None,
) -> tuple[np.ndarray, int]:  # fmt: skip
    """The share of the records at `rows` guessed closer than each distance, and the number of records tried.

    `swapped` is the chance of each that it was swapped, where more than p is known of it.
    """
    half = np.arange(rows.size) % 2 == 0
    known = np.union1d(rows, evenly_spaced(file.n, KNOWN))
    others = [column[known] for column in others]
    chance = np.full(rows.size, file.law.p) if swapped is None else swapped

    def ways(columns: list[np.ndarray]) -> np.ndarray:
        """Hits by each number of neighbours in some columns."""
        return _ways(file, z, rows, known, standardised(columns), posteriors, d, chance)

    hits = [ways(others)]
    if len(others) > 1:
        alone = [ways([column]) for column in others[:MOST_COLUMNS]]
        hits += alone
        scores = [_chosen(hit, half) for hit in alone]
        least = _chosen(posteriors.hit[None], half)  # without any column
        order = sorted((k for k, score in enumerate(scores) if score > least), key=lambda k: -scores[k])
        together, best = [others[k] for k in order[:1]], max(scores)
        for k in order[1:]:
            tried = ways([*together, others[k]])
            if (now := _chosen(tried, half)) > best:
                together.append(others[k])
                best = now
                hits.append(tried)
    every = np.concatenate((*hits, posteriors.hit[None]))  # without columns is one of the ways
    best_way = every[:, half].mean(axis=1).argmax(axis=0)
    risk = np.array([every[way, ~half, k].mean() for k, way in enumerate(best_way)])
    return risk, int(np.count_nonzero(~half))


def _chosen(hits: np.ndarray, half: np.ndarray) -> float:
    """How good some ways are in one half of the records, over all distances."""
    return float(hits[:, half].mean(axis=1).max(axis=0).sum())


def _ways(
    file: Original, z: np.ndarray, rows: np.ndarray, known: np.ndarray, table: np.ndarray,
    posteriors: RecordPosteriors, d: np.ndarray, swapped: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The hits by each number of neighbours of `rows` among the known records, of which the table is."""
    from scipy.spatial import cKDTree  # takes .1 s to import

    most = min(NUMBERS[-1], known.size - 1)
    apart = np.column_stack((table, TIES * (np.arange(known.size) * GOLDEN % 1.0)))
    tree, at = cKDTree(apart, balanced_tree=False), np.searchsorted(known, rows)
    nearest = [tree.query(apart[at[start:stop]], k=most + 1)[1] for start, stop in blocks(at.size, TOGETHER)]
    near = known[_others(np.concatenate(nearest), at, most)]
    numbers = sorted({min(k, most) for k in NUMBERS})
    return np.array([_hits(file, z, rows, near[:, :k], posteriors, d, swapped) for k in numbers])


def _others(nearest: np.ndarray, rows: np.ndarray, most: int) -> np.ndarray:
    """The neighbours without the record itself, which need not come first among equals."""
    itself = nearest == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(nearest[~itself].reshape(rows.size, most))


def _hits(
    file: Original, z: np.ndarray, rows: np.ndarray, near: np.ndarray, posteriors: RecordPosteriors,
    d: np.ndarray, swapped: np.ndarray,
) -> np.ndarray:  # fmt: skip
    hits, lot = np.empty((rows.size, d.size), dtype=bool), max(1, CHUNK // (4 * near.shape[1]))
    wide = file.wide(d)
    for start in range(0, rows.size, lot):
        some = slice(start, start + lot)
        points, weights = _points(file, z[some], near[some], posteriors.density[some], swapped[some])
        order = np.argsort(points, axis=1)
        points, weights = (np.take_along_axis(x, order, axis=1) for x in (points, weights))
        first = np.empty((points.shape[0], d.size))
        best_of_points(points, weights, wide, first)
        original = file.units[rows[some], None]
        hits[some] = (first <= original) & (original < first + wide)
    return hits


def _points(
    file: Original, z: np.ndarray, near: np.ndarray, density: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Units where the original may be, and their weights: a row for each masked value."""
    k = near.shape[1]
    swapped = np.repeat((p * density / k)[:, None], k, axis=1)
    at, steps, sigma = file.released_positions(z), file.positions(near), file.noise_width
    spread = 0.9 * steps.std(axis=1) * k**-0.2
    scale = (sigma**2 + spread**2)[:, None]
    apart = at[:, None] - steps
    kept = np.exp(-0.5 * apart**2 / scale) / np.sqrt(2.0 * np.pi * scale) * ((1.0 - p) / k)[:, None]
    middle = steps + apart * (spread[:, None] ** 2 / scale)
    across = np.sqrt(sigma**2 * spread**2 / scale[:, 0])[:, None, None] * NODES
    guesses = file.units_at((middle[:, :, None] + across).reshape(z.size, -1))
    kept = (kept[:, :, None] * WEIGHTS).reshape(z.size, -1)
    return np.concatenate((file.units[near], guesses), axis=1), np.concatenate((swapped, kept), axis=1)
