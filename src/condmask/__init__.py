"""Conditional masking of numerical data, and estimation from masked data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condmask import kernels
    from condmask._randomness import Key
    from condmask.disclosure.audit import audit
    from condmask.disclosure.audit_result import Audit
    from condmask.disclosure.insider_risk import InsiderRisk, insider_risk
    from condmask.disclosure.linkage import Linkage, record_linkage
    from condmask.disclosure.record_risk import RecordRisk, record_risk
    from condmask.disclosure.release_check import ReleaseError, ReleaseWarning
    from condmask.disclosure.risk import release_risk, risk
    from condmask.disclosure.risk_result import Risk
    from condmask.disclosure.uniques import uniques
    from condmask.errors import CondmaskError, FileError
    from condmask.estimates.bands import compare_distributions
    from condmask.estimates.counts import Counts
    from condmask.estimates.estimate import Estimate
    from condmask.files.csv_text import CsvFormat
    from condmask.files.read import read_column
    from condmask.inference.intervals import EstimateWarning
    from condmask.planning.plan import plan
    from condmask.planning.result import Plan
    from condmask.recipes.run import run_recipe
    from condmask.releases.mask_file import mask_file
    from condmask.releases.masking import mask_table
    from condmask.releases.plot_release import plot_release
    from condmask.releases.release import Release, read_counts, read_release, read_schemes
    from condmask.reports.report import report
    from condmask.schemes.additive import AdditiveNoise
    from condmask.schemes.conditional import ConditionalMasking
    from condmask.schemes.multiplicative import MultiplicativeNoise
    from condmask.schemes.shuffling import DataShuffling
    from condmask.schemes.swapping import DataSwapping, RankSwapping
    from condmask.studies.compare import MethodComparison, compare
    from condmask.studies.populations import NormalCopula, Resampled, paper_population
    from condmask.studies.result import StudyResult
    from condmask.studies.simulate import StudyWarning, simulate

__version__ = "0.1.0"

# Names resolve on first use, so that importing the package costs nothing (PEP 562).
_HOMES = {
    "Audit": "condmask.disclosure.audit_result",
    "audit": "condmask.disclosure.audit",
    "ConditionalMasking": "condmask.schemes.conditional",
    "CondmaskError": "condmask.errors",
    "CsvFormat": "condmask.files.csv_text",
    "Estimate": "condmask.estimates.estimate",
    "EstimateWarning": "condmask.inference.intervals",
    "FileError": "condmask.errors",
    "Key": "condmask._randomness",
    "Release": "condmask.releases.release",
    "ReleaseError": "condmask.disclosure.release_check",
    "ReleaseWarning": "condmask.disclosure.release_check",
    "AdditiveNoise": "condmask.schemes.additive",
    "DataSwapping": "condmask.schemes.swapping",
    "MultiplicativeNoise": "condmask.schemes.multiplicative",
    "RankSwapping": "condmask.schemes.swapping",
    "DataShuffling": "condmask.schemes.shuffling",
    "compare": "condmask.studies.compare",
    "MethodComparison": "condmask.studies.compare",
    "compare_distributions": "condmask.estimates.bands",
    "NormalCopula": "condmask.studies.populations",
    "Resampled": "condmask.studies.populations",
    "paper_population": "condmask.studies.populations",
    "simulate": "condmask.studies.simulate",
    "StudyResult": "condmask.studies.result",
    "StudyWarning": "condmask.studies.simulate",
    "Counts": "condmask.estimates.counts",
    "risk": "condmask.disclosure.risk",
    "release_risk": "condmask.disclosure.risk",
    "Risk": "condmask.disclosure.risk_result",
    "record_risk": "condmask.disclosure.record_risk",
    "RecordRisk": "condmask.disclosure.record_risk",
    "insider_risk": "condmask.disclosure.insider_risk",
    "InsiderRisk": "condmask.disclosure.insider_risk",
    "record_linkage": "condmask.disclosure.linkage",
    "Linkage": "condmask.disclosure.linkage",
    "uniques": "condmask.disclosure.uniques",
    "plan": "condmask.planning.plan",
    "Plan": "condmask.planning.result",
    "report": "condmask.reports.report",
    "run_recipe": "condmask.recipes.run",
    "kernels": "condmask.kernels",
    "mask_file": "condmask.releases.mask_file",
    "mask_table": "condmask.releases.masking",
    "plot_release": "condmask.releases.plot_release",
    "read_column": "condmask.files.read",
    "read_release": "condmask.releases.release",
    "read_schemes": "condmask.releases.release",
    "read_counts": "condmask.releases.release",
}

__all__ = [  # noqa: RUF022 (grouped by use)
    "ConditionalMasking",
    "AdditiveNoise",
    "DataSwapping",
    "RankSwapping",
    "DataShuffling",
    "MultiplicativeNoise",
    "audit",
    "Audit",
    "risk",
    "release_risk",
    "Risk",
    "record_risk",
    "RecordRisk",
    "insider_risk",
    "InsiderRisk",
    "record_linkage",
    "Linkage",
    "uniques",
    "plan",
    "Plan",
    "report",
    "run_recipe",
    "mask_table",
    "Release",
    "plot_release",
    "mask_file",
    "CsvFormat",
    "read_release",
    "read_schemes",
    "read_column",
    "read_counts",
    "FileError",
    "Estimate",
    "Counts",
    "compare_distributions",
    "simulate",
    "compare",
    "MethodComparison",
    "StudyResult",
    "StudyWarning",
    "NormalCopula",
    "Resampled",
    "paper_population",
    "Key",
    "CondmaskError",
    "ReleaseError",
    "ReleaseWarning",
    "EstimateWarning",
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
