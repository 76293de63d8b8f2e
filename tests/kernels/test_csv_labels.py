"""Texts by the numbers of the distinct ones; oracle: a list of them in the order in which they come."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels.csv_labels import number_labels


@given(words=st.lists(st.binary(max_size=3), min_size=1, max_size=60))
def test_labels_are_numbered_in_the_order_in_which_they_come(words):
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    stops = np.cumsum([len(word) for word in words], dtype=np.int64)
    starts = stops - [len(word) for word in words]
    code, first = np.empty((2, len(words)), dtype=np.int64)
    table = np.full(2 << len(words).bit_length(), -1, dtype=np.int64)

    count = number_labels(text, starts, stops, table, code, first)

    distinct = list(dict.fromkeys(words))
    assert [words[i] for i in first[:count].tolist()] == distinct
    assert code.tolist() == [distinct.index(word) for word in words]
