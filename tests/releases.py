"""What tests of releases share: data whose masked values tell their donors, and the reference's release."""

import hypothesis
import numpy as np
import reference

from condmask._blocks import blocks
from condmask.draws import coins
from condmask.estimates.origin import Origin
from condmask.scheme import release_key
from condmask.strata import labels_of, pools_of

NOISES = ("normal", "laplace")
DONORS = ("sample", "permutation")
ALARM = 1e-6  # a statistical test has a fixed key and raises a false alarm in at most one key of 10^6


def generic(n, seed=0):
    """Values without ties: a masked value tells its donor."""
    return np.random.default_rng(seed).lognormal(10.0, 0.5, n)


def split(x, z):
    """(swapped rows, their donors) of a column without ties, masked with continuous noise."""
    order = np.argsort(x)
    found = order[np.searchsorted(x[order], z).clip(max=x.size - 1)]
    swapped = np.flatnonzero(x[found] == z)
    return swapped, found[swapped]


def in_steps(scheme, x):
    """The column that is hashed into the working key."""
    step = reference.exact_step(scheme.step)
    return x if step is None else [reference.to_steps(v, step) for v in x.tolist()]


def law_of(scheme):
    return scheme.noise, scheme.sigma, reference.exact_step(scheme.step)


def reference_of(scheme, x, seed, strata=None):
    secret = reference.working_secret(seed, [("", scheme.to_dict())], [in_steps(scheme, x)], strata)
    (z,) = reference.masked(secret, scheme.p, [x], [law_of(scheme)], strata=strata, donors=scheme.donors)
    return z


def masked(scheme, x, **options):
    """The release; drawn data that happen to have a grid of their own are another test's."""
    try:
        return scheme.mask(x, **options)
    except ValueError as error:
        hypothesis.assume("which a step of" not in str(error))
        raise


def assert_same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert np.array_equal(a, b, equal_nan=True)
    if a.dtype == float:
        assert np.array_equal(np.signbit(a), np.signbit(b)) or np.isnan(a).any()


def coins_of(scheme, x, key, strata=None):
    """Whether each record of a column without a name was swapped; only the key's owner can know."""
    pools = None
    if strata is not None:
        labels = labels_of(strata, scheme.strata, x.size, "x", "mask")
        pools, _ = pools_of(scheme, {"x": x}, labels)
    derived = release_key(key, {"": scheme}, [scheme.canonical(x, "x", "float64")], pools)
    swapped = np.zeros(x.size, dtype=bool)
    for block, (start, stop) in enumerate(blocks(x.size)):
        swapped[start + coins(derived, scheme.p, block, stop - start)[0]] = True
    return swapped


def coins_of_table(schemes, table, key):
    """Whether each record of some columns without gaps, masked in one call, was swapped."""
    columns = [schemes[name].canonical(x, name, "float64") for name, x in table.items()]
    derived = release_key(key, schemes, columns, None)
    swapped, p = np.zeros(columns[0].size, dtype=bool), next(iter(schemes.values())).p
    for block, (start, stop) in enumerate(blocks(swapped.size)):
        swapped[start + coins(derived, p, block, stop - start)[0]] = True
    return swapped


def masked_rows(scheme, x, rng, strata=None):
    """Rows masked on their own, within each stratum by itself: by eq. (1), as releases are."""
    z = np.array(x, dtype=float)
    for own in [slice(None)] if strata is None else [strata == s for s in np.unique(strata)]:
        z[:, own] = scheme.mask_rows(np.ascontiguousarray(z[:, own]), rng, ())
    return z


def in_group(estimate, group="g"):
    """The estimate, as that of a column which was masked together with others."""
    for each in (estimate, *estimate._replicates):
        each.origin = Origin(group)
    return estimate
