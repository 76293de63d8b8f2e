"""Conditional masking of numerical data, and estimation from masked data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condmask import kernels
    from condmask._randomness import Key
    from condmask.disclosure.verdict import Audit
    from condmask.estimates.bands import compare_distributions
    from condmask.estimates.estimate import Estimate
    from condmask.estimates.summary import Summary
    from condmask.files.atomic import FileError
    from condmask.files.dialect import CsvFormat
    from condmask.files.reading import read_column, read_release, read_schemes, read_summary
    from condmask.files.release import mask_file, write_release
    from condmask.inference.intervals import EstimateWarning
    from condmask.planning.plan import plan
    from condmask.planning.result import Plan
    from condmask.reports.report import report
    from condmask.reports.run import run_plan
    from condmask.risks.insider import InsiderRisk, insider_risk
    from condmask.risks.linkage import Linkage, record_linkage
    from condmask.risks.measure import release_risk, risk
    from condmask.risks.records import RecordRisk, record_risk
    from condmask.risks.result import Risk
    from condmask.risks.uniques import uniques
    from condmask.schemes.additive import AdditiveNoise
    from condmask.schemes.audit import audit
    from condmask.schemes.conditional import ConditionalMasking
    from condmask.schemes.joint import MaskedTable, mask_table
    from condmask.schemes.multiplicative import MultiplicativeNoise
    from condmask.schemes.publishing import ReleaseError, ReleaseWarning
    from condmask.schemes.shuffling import DataShuffling
    from condmask.schemes.swapping import DataSwapping, RankSwapping
    from condmask.studies.compare import Comparison, compare
    from condmask.studies.populations import NormalCopula, Resampled, paper_population
    from condmask.studies.result import StudyResult
    from condmask.studies.simulate import StudyWarning, simulate

__version__ = "0.1.0"

# Names resolve on first use, so that importing the package costs nothing (PEP 562).
_HOMES = {
    "Audit": "condmask.disclosure.verdict",
    "audit": "condmask.schemes.audit",
    "ConditionalMasking": "condmask.schemes.conditional",
    "CsvFormat": "condmask.files.dialect",
    "Estimate": "condmask.estimates.estimate",
    "EstimateWarning": "condmask.inference.intervals",
    "FileError": "condmask.files.atomic",
    "Key": "condmask._randomness",
    "MaskedTable": "condmask.schemes.joint",
    "ReleaseError": "condmask.schemes.publishing",
    "ReleaseWarning": "condmask.schemes.publishing",
    "AdditiveNoise": "condmask.schemes.additive",
    "DataSwapping": "condmask.schemes.swapping",
    "MultiplicativeNoise": "condmask.schemes.multiplicative",
    "RankSwapping": "condmask.schemes.swapping",
    "DataShuffling": "condmask.schemes.shuffling",
    "compare": "condmask.studies.compare",
    "Comparison": "condmask.studies.compare",
    "compare_distributions": "condmask.estimates.bands",
    "NormalCopula": "condmask.studies.populations",
    "Resampled": "condmask.studies.populations",
    "paper_population": "condmask.studies.populations",
    "simulate": "condmask.studies.simulate",
    "StudyResult": "condmask.studies.result",
    "StudyWarning": "condmask.studies.simulate",
    "Summary": "condmask.estimates.summary",
    "risk": "condmask.risks.measure",
    "release_risk": "condmask.risks.measure",
    "Risk": "condmask.risks.result",
    "record_risk": "condmask.risks.records",
    "RecordRisk": "condmask.risks.records",
    "insider_risk": "condmask.risks.insider",
    "InsiderRisk": "condmask.risks.insider",
    "record_linkage": "condmask.risks.linkage",
    "Linkage": "condmask.risks.linkage",
    "uniques": "condmask.risks.uniques",
    "plan": "condmask.planning.plan",
    "Plan": "condmask.planning.result",
    "report": "condmask.reports.report",
    "run_plan": "condmask.reports.run",
    "kernels": "condmask.kernels",
    "mask_file": "condmask.files.release",
    "write_release": "condmask.files.release",
    "mask_table": "condmask.schemes.joint",
    "read_column": "condmask.files.reading",
    "read_release": "condmask.files.reading",
    "read_schemes": "condmask.files.reading",
    "read_summary": "condmask.files.reading",
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
    "run_plan",
    "mask_table",
    "MaskedTable",
    "mask_file",
    "write_release",
    "CsvFormat",
    "read_release",
    "read_schemes",
    "read_column",
    "read_summary",
    "FileError",
    "Estimate",
    "Summary",
    "compare_distributions",
    "simulate",
    "compare",
    "Comparison",
    "StudyResult",
    "StudyWarning",
    "NormalCopula",
    "Resampled",
    "paper_population",
    "Key",
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
