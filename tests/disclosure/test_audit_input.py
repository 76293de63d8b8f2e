"""Which columns and rows in clear are looked at. Oracle: what is said of them, by hand."""

from condmask.disclosure.audit_input import CLEAR_ROWS, MOST_CLEAR, columns_in_clear, rows_in_clear


def test_the_first_columns_that_are_left_and_named_once_are_looked_at():
    names = ["wage", "twice", "twice", *(f"x{k}" for k in range(MOST_CLEAR + 1))]

    assert columns_in_clear(names, {"wage", "x0"}) == [f"x{k}" for k in range(1, MOST_CLEAR + 1)]
    assert columns_in_clear(names, {"wage"}) == [f"x{k}" for k in range(MOST_CLEAR)]


def test_rows_are_all_of_few_and_evenly_spaced_ones_of_many():
    assert rows_in_clear(7).tolist() == list(range(7))
    assert rows_in_clear(3 * CLEAR_ROWS).tolist() == list(range(0, 3 * CLEAR_ROWS, 3))
