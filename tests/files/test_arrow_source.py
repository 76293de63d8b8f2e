"""Arrow and Parquet files that are cut short while they are read, or were before, are refused.

Oracles: the system, which kills whoever looks at a map of bytes that are gone, and what pyarrow reads.
"""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CUT = """
import os, sys
from pathlib import Path
import condmask as cm
from condmask.files.read import open_table

for path in map(Path, sys.argv[1:]):
    whole = path.read_bytes()
    for names in (None, ["x"]):
        try:
            for k, _ in enumerate(open_table(path).batches(names)):
                if k == 0:
                    os.truncate(path, len(whole) // 2)
        except cm.FileError as error:
            print(error)
        path.write_bytes(whole)
"""


def test_a_file_that_is_truncated_while_it_is_read_kills_nobody(tmp_path):
    paths = [tmp_path / "a.arrow", tmp_path / "a.parquet"]
    table = pa.table({"x": np.random.default_rng(1).normal(size=200_000), "y": range(200_000)})
    with pa.ipc.new_file(paths[0], table.schema) as file:
        file.write_table(table, max_chunksize=50_000)
    pq.write_table(table, paths[1], row_group_size=66_000, use_dictionary=False, compression="none")

    done = subprocess.run([sys.executable, "-c", CUT, *paths], capture_output=True, text=True)

    sentences = [f"{path} cannot be read: it is damaged, or was truncated meanwhile" for path in paths]
    assert (done.returncode, done.stdout.splitlines()) == (0, sorted(sentences * 2)), done.stderr
