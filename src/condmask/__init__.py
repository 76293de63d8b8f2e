"""Conditional masking of numerical data, and estimation from masked data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condmask import kernels
    from condmask._randomness import Key
    from condmask.estimate import Estimate
    from condmask.files import mask_file, read_column, read_release, read_schemes, read_summary
    from condmask.noise_estimate import NoiseEstimate
    from condmask.populations import NormalCopula, Resampled, paper_population
    from condmask.publishing import FileError
    from condmask.schemes.conditional import ConditionalMasking, ReleaseWarning
    from condmask.schemes.joint import MaskedTable, mask_table
    from condmask.schemes.noise import AdditiveNoise
    from condmask.schemes.shuffling import DataShuffling
    from condmask.schemes.swapping import DataSwapping, RankSwapping
    from condmask.study import StudyWarning, simulate
    from condmask.study_result import StudyResult
    from condmask.summary import Summary
    from condmask.summary_estimate import SummaryEstimate

__version__ = "0.1.0"

# Names resolve on first use, so that importing the package costs nothing (PEP 562).
_HOMES = {
    "ConditionalMasking": "condmask.schemes.conditional",
    "Estimate": "condmask.estimate",
    "FileError": "condmask.publishing",
    "Key": "condmask._randomness",
    "MaskedTable": "condmask.schemes.joint",
    "ReleaseWarning": "condmask.schemes.conditional",
    "AdditiveNoise": "condmask.schemes.noise",
    "DataSwapping": "condmask.schemes.swapping",
    "RankSwapping": "condmask.schemes.swapping",
    "DataShuffling": "condmask.schemes.shuffling",
    "NoiseEstimate": "condmask.noise_estimate",
    "NormalCopula": "condmask.populations",
    "Resampled": "condmask.populations",
    "paper_population": "condmask.populations",
    "simulate": "condmask.study",
    "StudyResult": "condmask.study_result",
    "StudyWarning": "condmask.study",
    "Summary": "condmask.summary",
    "SummaryEstimate": "condmask.summary_estimate",
    "kernels": "condmask.kernels",
    "mask_file": "condmask.files",
    "mask_table": "condmask.schemes.joint",
    "read_column": "condmask.files",
    "read_release": "condmask.files",
    "read_schemes": "condmask.files",
    "read_summary": "condmask.files",
}

__all__ = [  # noqa: RUF022 (grouped by use)
    "ConditionalMasking",
    "AdditiveNoise",
    "DataSwapping",
    "RankSwapping",
    "DataShuffling",
    "mask_table",
    "MaskedTable",
    "mask_file",
    "read_release",
    "read_schemes",
    "read_column",
    "read_summary",
    "FileError",
    "Estimate",
    "Summary",
    "SummaryEstimate",
    "NoiseEstimate",
    "simulate",
    "StudyResult",
    "StudyWarning",
    "NormalCopula",
    "Resampled",
    "paper_population",
    "Key",
    "ReleaseWarning",
    "kernels",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'condmask' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    value = home if name == "kernels" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
