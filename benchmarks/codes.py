"""How often columns of public tables are asked about in vain: values that look like codes of
missing ones.

    python -m benchmarks.codes

Prints every column that is asked about, with its values, and the share of these among all numeric
columns, and among those that the benchmark of attackers masks (benchmarks/attacks.py). Whether a
value is a code is for the code book to say: CODED lists those that are.
"""

import numpy as np

from benchmarks.attacks import candidates, tables
from condmask.suspected_codes import suspicion

CODED = {  # 999 and 999,999.4 stand for no value there, and 1,000,000 and 999,999.375 as rounded
    ("loanapp", "review"),
    ("loanapp", "term"),
    ("loanapp", "liq"),
}


def main() -> None:
    """Print which columns are asked about, and how many of how many."""
    columns = {"all": 0, "masked": 0}
    in_vain = {"all": 0, "masked": 0}
    for name, load in tables():
        frame = load(name)
        masked = set(candidates(frame))
        for column in frame.select_dtypes("number"):
            codes, records = suspicion((), frame[column].to_numpy(dtype=float), "float64")
            asked = bool(codes) and (name, column) not in CODED
            for kind in ("all", "masked") if column in masked else ("all",):
                columns[kind] += 1
                in_vain[kind] += asked
            if codes:
                note = "in vain" if asked else "a code"
                print(f"{name}, {column}: {np.array(codes)} in {records} records, {note}")
    for kind, count in columns.items():
        print(
            f"{kind} columns: {in_vain[kind]} of {count} asked about in vain, {in_vain[kind] / count:.2%}"
        )


if __name__ == "__main__":
    main()
