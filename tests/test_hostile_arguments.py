"""Whatever a caller passes, a public name answers, or refuses in one sentence.

Each argument of each public name is replaced by hostile ones in turn, another choice for each parameter.
With CONDMASK_HOSTILE=quick in the environment all of them are tried on calls that are quick, some minutes;
with CONDMASK_HOSTILE=all on every call, some hours.
"""

import os
import warnings
import zlib

import matplotlib
import matplotlib.pyplot as plt
import polars as pl
import pytest
from hostile import CALLABLES, COUNTS, HOSTILE
from public_calls import MADE, NO_CALL, calls, write_files

import condmask as cm
from condmask import frames
from condmask.errors import CondmaskError

HOW = os.environ.get("CONDMASK_HOSTILE", "some")
SOME = 8 if HOW == "some" else len(HOSTILE)  # hostile arguments of each parameter
MOST = 12_000  # letters of a message, which may name a long path
# what counts up to a limit that the caller names may take as long as it says
# what takes longer than the rest together is left out
LONG = (
    "risk", "plan", "report", "compare", "plot_release", "Plan.", "Methods",
    "MethodComparison.", "Estimate.summary", "Estimate.plot", "Estimate.compare", "StudyResult.plot",
    "Estimate after", "Estimate of", "Estimate.cdf_band", "Estimate.expectation", "compare_distributions",
)  # fmt: skip
LIMITS = {"draws", "replications", "n", "points"}
# what is called with arguments of ours may raise what it likes
CALLED = {"g", "workers", "progress", "population"}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The sound calls, in the folder where the files that they read lie."""
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matplotlib.use("Agg")
        patch.chdir(folder)
        patch.setenv("XDG_DATA_HOME", str(folder))
        write_files(folder)
        yield calls(folder)
        plt.close("all")


def attack(call, parameter, key):
    """What a call raises, None where it answers."""
    try:
        call(**{parameter: HOSTILE[key]()})
    except Exception as error:
        return error
    finally:
        plt.close("all")
    return None


def is_right(error, parameter, key):
    """Whether an exception may leave the package."""
    if isinstance(error, CondmaskError):
        text = str(error)
        return bool(text) and not {"\n", "\r"} & set(text) and len(text) <= MOST
    if isinstance(error, OSError):  # of the operating system
        return error.errno is not None
    of_callable = parameter in CALLED and key in CALLABLES
    return isinstance(error, MemoryError) or of_callable


def attacks(sound):
    """(name of a call, parameter, key of an argument): some of each parameter."""
    for name, call in sound.items():
        for parameter in call.parameters if HOW == "all" or not name.startswith(LONG) else ():
            keys = [key for key in HOSTILE if not (parameter in LIMITS and key in COUNTS)]
            start = zlib.crc32(f"{name} {parameter}".encode()) % len(keys)
            for k in range(min(SOME, len(keys))):
                yield name, parameter, keys[(start + k * max(1, len(keys) // SOME)) % len(keys)]


def assert_refused_or_answered(sound, chosen):
    tried, refused, wrong = 0, 0, []
    for name, parameter, key in chosen:
        error = attack(sound[name], parameter, key)
        tried, refused = tried + 1, refused + (error is not None)
        if error is not None and not is_right(error, parameter, key):
            wrong.append(f"{name}({parameter}={key}): {type(error).__name__}")
    assert not wrong
    return tried, refused


@pytest.mark.filterwarnings("ignore")
def test_some_hostile_arguments_are_refused_in_a_sentence(sound):
    tried, refused = assert_refused_or_answered(sound, attacks(sound))

    assert tried > 2_000
    assert refused > 0.6 * tried


def test_every_public_name_is_called(sound):
    exceptions = {name for name in cm.__all__ if name.endswith(("Error", "Warning"))}
    called = {name.split(".")[0].split(" ")[0] for name in sound}
    without_parameters = {"DataSwapping", "DataShuffling", "paper_population"}

    assert {*cm.__all__} - exceptions - NO_CALL - MADE <= called | without_parameters


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "parameter", "key"),
    [
        ("ConditionalMasking", "p", "True"),
        ("ConditionalMasking", "p", "nan"),
        ("ConditionalMasking", "sigma", "inf"),
        ("ConditionalMasking", "step", "'0.5'"),
        ("ConditionalMasking.mask", "x", "[True]"),
        ("ConditionalMasking.mask", "x", "float16"),
        ("ConditionalMasking.mask", "x", "masked"),
        ("ConditionalMasking.mask", "x", "polars Int128"),
        ("ConditionalMasking.mask", "rng", "True"),
        ("Estimate.cdf", "t", "nan"),
        ("Estimate.cdf", "monotone", "0.5"),
        ("Estimate.quantile", "q", "-0.0"),
        ("Estimate.moment", "order", "True"),
        ("Estimate.moment", "central", "0.5"),
        ("Estimate.correlation", "other", "[nan]"),
        ("mask_table", "frame", "unequal dict"),
        ("mask_table", "frame", "dict of ragged"),
        ("mask_file", "dry_run", "'0.5'"),
        ("mask_file", "progress", "0.5"),
        ("mask_file", "csv", "{}"),
        ("risk", "d", "[inf]"),
        ("risk", "data", "unequal dict"),
        ("DataShuffling.mask", "given", "0 columns"),
        ("Estimate.median_interval", "confidence_level", "5e-324"),
        ("Estimate after reverse mapping.summary", "points", "__array_interface__ lies"),
        ("Estimate of rows.correlation_interval", "other", "recursive"),
        ("StudyResult.save", "path", "''"),
        ("compare", "scheme", "-10**5000"),
        ("plot_release", "original", "__getattr__ raises"),
        ("Estimate after reverse mapping.pdf", "bandwidth", "5e-324"),
        ("Estimate after reverse mapping.pdf", "tol", "5e-324"),
        ("Estimate of rows.covariance", "other", "__getattr__ raises"),
    ],
)
def test_nonsense_is_not_taken_for_a_value(sound, name, parameter, key):
    assert isinstance(attack(sound[name], parameter, key), CondmaskError)


def test_whole_numbers_of_128_bits_are_refused():
    series = pl.Series("x", [5, None, 70], dtype=pl.Int128)

    with pytest.raises(TypeError, match=r"^x must be numeric, got dtype Int128$"):
        frames.column(series, "x")
