"""Every way to the same number: one table, compared pairwise by tests/test_routes.py.

A route takes masked values on a grid and their scheme, and answers a request; or None where it does not
serve it, for a reason that stands beside it.
"""

from typing import NamedTuple

import numpy as np

import condmask as cm
from condmask.studies import curves


class Request(NamedTuple):
    """What is asked: "cdf", "pdf", "first", "rearranged" or "monotone", where, and how smoothed."""

    kind: str
    at: np.ndarray
    width: float | None
    tol: float


def ask(one, request, method="auto"):
    kind, at, width, tol = request
    if kind == "cdf":
        return one.cdf(at, bandwidth=width, tol=tol, method=method)
    if kind == "pdf":
        return one.pdf(at, bandwidth=width, tol=tol, method=method)
    if kind == "monotone":
        return one.cdf(at, bandwidth=width, tol=tol, monotone=True)
    return one.quantile(at, bandwidth=width, tol=tol, crossing=kind)


def by_layers(scheme, z, request):
    return ask(scheme.estimate(z), request)


def by_terms(scheme, z, request):
    if request.kind not in ("cdf", "pdf"):
        return None  # there are no crossings of the series
    if scheme.noise == "laplace" or scheme.p < 0.45 or scheme.step > 0.01 * scheme.sigma:
        return None
    return ask(scheme.estimate(z), request, "series")


def in_a_batch(scheme, z, request):
    rows = np.stack([z[::-1], z, z + 3 * scheme.step])
    return ask(scheme.estimate(rows), request)[1]


def by_summary(scheme, z, request):
    rng = np.random.default_rng(z.size)
    total = cm.Counts(scheme)
    for part in np.array_split(rng.permutation(z), rng.integers(1, 9)):
        piece = cm.Counts(scheme)
        piece.update(part)
        total = piece + total
    return ask(scheme.estimate(total), request)


def in_rows(scheme, z, request):
    """As the samples of a study, where these serve law and sample."""
    law, width = scheme.law, None if request.width is None else np.array([request.width])
    if request.kind in ("pdf", "monotone") or not curves.serves(law, smoothed=width is not None):
        return None
    none, rearranged = np.empty(0), request.kind == "rearranged"
    asked = (none, request.at) if request.kind == "cdf" else (request.at, none)
    found = curves.of_rows(np.sort(z)[None, :], law, width, *asked, rearranged=rearranged)[0]
    return None if np.isnan(found).any() else found  # data too wide for it


ROUTES = {
    "auto": by_layers,
    "series": by_terms,
    "batch": in_a_batch,
    "summary": by_summary,
    "rows": in_rows,
}
TOLERANCE = {"rows": 1e-7}  # of T, where it is not the one asked for
SAME_BITS = ("auto", "batch", "summary")
