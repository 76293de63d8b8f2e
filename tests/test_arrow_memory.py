"""Arrow arrays that lie are refused wherever they are handed in, before anybody computes with them.

Oracle: pyarrow's own check; without it these arrays kill the process, or show other memory.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import condmask as cm
from condmask.arrow_memory import sound, validated

N = 400
PLACES = np.arange(N + 1, dtype=np.int32)


def texts(places, dtype=None):
    buffers = [None, pa.py_buffer(np.array(places)), pa.py_buffer(b"a" * N)]
    return pa.Array.from_buffers(dtype or pa.string(), N, buffers)


def elsewhere(dtype=np.int32):
    return np.where(PLACES == N // 2, 2**30, PLACES).astype(dtype)


def labels(codes, distinct):
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), distinct, safe=False)


LIES = {
    "texts elsewhere": texts(elsewhere()),
    "large texts elsewhere": texts(elsewhere(np.int64), pa.large_string()),
    "places that descend": texts(np.where(PLACES == N // 2, 3, PLACES).astype(np.int32)),
    "labels that there are not": labels([2**28] * N, pa.array(["a", "b"])),
    "labels elsewhere": labels([0] * N, texts(elsewhere())),
    "in a list": pa.ListArray.from_arrays(pa.array(PLACES), texts(elsewhere())),
    "nulls that there are not": pa.Array.from_buffers(
        pa.float64(), N, [pa.py_buffer(b"\xff" * N), pa.py_buffer(np.arange(float(N)))], null_count=5
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_arrays_that_lie_are_refused(lie):
    sentence = "^town must be a sound Arrow array, got one that its validate\\(\\) refuses$"
    for values in (LIES[lie], pa.chunked_array([LIES[lie].slice(0, 0), LIES[lie]])):
        with pytest.raises(pa.ArrowInvalid):
            validated(values)
        with pytest.raises(ValueError, match=sentence):
            sound(values, "town")


@pytest.mark.parametrize(
    "values",
    [
        texts(PLACES),
        labels([0, None, 1] * 100, pa.array(["a", "b"])),
        pa.array([b"\xff", None]).view(pa.string()),  # no UTF-8, which some writers do not mind
        labels([0], pa.array([b"\xff"]).view(pa.string())),
        pa.array([[b"\xff"], None]).view(pa.list_(pa.string())),
        pa.array([{"a": [b"\xff"]}]).view(pa.struct({"a": pa.list_(pa.string())})),
        pa.array([[(b"\xff", 1)]], pa.map_(pa.binary(), pa.int8())).view(pa.map_(pa.string(), pa.int8())),
        pa.array([b"\xff"], pa.binary_view()).view(pa.string_view()),
        pa.array([[1], None]),
        np.array([1.0, np.nan]),
    ],
)
def test_others_are_as_they_were(values):
    assert sound(values, "town") is values


USES = [
    "cm.mask_table(table, {'x': scheme})",
    "cm.mask_table(table, {'x': scheme}, strata='town', accept_visible_coins=True)",
    "cm.audit(table, {'x': scheme})",
    "cm.mask_table(table, {'x': scheme}, accept_visible_coins=True).write('b.parquet')",
]


def test_no_frame_that_lies_kills_the_process(tmp_path):
    code = "\n".join([
        "import numpy as np, pyarrow as pa, condmask as cm, test_arrow_memory as here",
        "scheme = cm.ConditionalMasking(0.6, 50.0)",
        "table = pa.table({'x': np.arange(400.0) * 7 % 301, 'town': here.LIES['texts elsewhere']})",
        *(f"try: {use}\nexcept cm.CondmaskError as error: print(error)" for use in USES),
    ])  # fmt: skip

    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip

    sentence = "town must be a sound Arrow array, got one that its validate() refuses"
    assert (done.returncode, done.stdout.splitlines()) == (0, [sentence] * len(USES)), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_column_alone_is_looked_through_as_well():
    with pytest.raises(ValueError, match="must be a sound Arrow array"):
        cm.ConditionalMasking(0.6, 50.0).mask(LIES["nulls that there are not"])
