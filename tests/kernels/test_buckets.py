"""Buckets by splitters. Oracle: a count over tuples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels.buckets import assign

TUPLES = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 2**63, 2**64 - 1]), st.integers(0, 2)), max_size=12
)


def arrays_of(records):
    columns = zip(*records, strict=True) if records else ((), (), ())
    return [
        np.array(c, dtype=kind) for c, kind in zip(columns, (np.int64, np.uint64, np.uint64), strict=True)
    ]


@given(records=TUPLES, splitters=TUPLES.map(sorted), pooled=st.booleans(), tied=st.booleans())
def test_a_bucket_is_the_number_of_splitters_at_or_below(records, splitters, pooled, tied):
    keep = [k for k, used in enumerate((pooled, True, tied)) if used]

    def short(record):
        return tuple(record[k] for k in keep)

    splitters = sorted(splitters, key=short)
    given_columns, at = arrays_of(records), arrays_of(splitters)
    for k in {0, 2} - set(keep):
        given_columns[k], at[k] = given_columns[k][:0], at[k][:0]
    to = np.empty(len(records), np.int32)

    assign(*given_columns, *at, to)

    assert to.tolist() == [sum(short(s) <= short(r) for s in splitters) for r in records]
