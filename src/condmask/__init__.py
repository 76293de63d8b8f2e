"""Conditional masking of numerical data, and estimation from masked data.

The publisher masks columns of a table or a file; nothing is released that shows too much:

    release = cm.mask_table(frame, "income")             # or cm.mask_file
    release.write("released.parquet")

The analyst has the masked file, and estimates the originals with honest errors:

    release = cm.read_release("released.parquet")
    release.columns                                      # names; release["income"] is an estimate
    release.summary()                                    # mean, s.d., quartiles of masked columns
    release.correlations("age")                          # with each other and with "age"
    income = release["income"]
    income.mean_interval()                               # also quantile_, cdf_, gini_interval, ...
    income.group_by("region").mean()                     # also median, quantile, cdf
    income.group_means("sex").difference("male", "female")
    income.income_statistics()                           # poverty, S80/S20, Gini, Theil
    income.regress(["age", "sex"])                       # release.regress: masked regressors
    design = cm.Design(weights="w", clusters="psu", strata="stratum")
    income.with_design(design).mean_interval()

The researcher compares schemes: cm.risk, cm.plan, cm.simulate, cm.compare.
Schemes are cm.ReverseMapping, cm.ConditionalMasking and others; `help` of a name has examples.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condmask import dask as dask
    from condmask import kernels as kernels
    from condmask._randomness import Key as Key
    from condmask.designs.design import Design as Design
    from condmask.disclosure.audit import Audit as Audit
    from condmask.disclosure.audit import audit as audit
    from condmask.disclosure.column.insiders import InsiderRisk as InsiderRisk
    from condmask.disclosure.column.linkage import Linkage as Linkage
    from condmask.disclosure.risk import risk as risk
    from condmask.disclosure.risk_result import RecordRisk as RecordRisk
    from condmask.disclosure.risk_result import Risk as Risk
    from condmask.errors import CondmaskError as CondmaskError
    from condmask.errors import FileError as FileError
    from condmask.errors import ReleaseError as ReleaseError
    from condmask.errors import ReleaseWarning as ReleaseWarning
    from condmask.estimates.bands import compare_distributions as compare_distributions
    from condmask.estimates.counts import Counts as Counts
    from condmask.estimates.designed import DesignEstimate as DesignEstimate
    from condmask.estimates.estimate import Estimate as Estimate
    from condmask.files.csv_text import CsvFormat as CsvFormat
    from condmask.files.read_column import read_column as read_column
    from condmask.inference.interval import EstimateWarning as EstimateWarning
    from condmask.masking.multiplicative import MultiplicativeNoise as MultiplicativeNoise
    from condmask.masking.shuffling import DataShuffling as DataShuffling
    from condmask.masking.swapping import DataSwapping as DataSwapping
    from condmask.masking.swapping import RankSwapping as RankSwapping
    from condmask.planning.plan import plan as plan
    from condmask.planning.plan_result import Plan as Plan
    from condmask.publish.additive import AdditiveNoise as AdditiveNoise
    from condmask.publish.conditional import ConditionalMasking as ConditionalMasking
    from condmask.publish.masking import mask_file as mask_file
    from condmask.publish.masking import mask_table as mask_table
    from condmask.publish.read import read_counts as read_counts
    from condmask.publish.read import read_release as read_release
    from condmask.publish.release import Release as Release
    from condmask.publish.reverse_mapping import ReverseMapping as ReverseMapping
    from condmask.reports.plot_release import plot_release as plot_release
    from condmask.reports.report import report as report
    from condmask.studies.compare import MethodComparison as MethodComparison
    from condmask.studies.compare import compare as compare
    from condmask.studies.populations import NormalCopula as NormalCopula
    from condmask.studies.populations import Resampled as Resampled
    from condmask.studies.populations import paper_population as paper_population
    from condmask.studies.result import StudyResult as StudyResult
    from condmask.studies.simulate import StudyWarning as StudyWarning
    from condmask.studies.simulate import simulate as simulate

__version__ = "0.2.0"

# Names by the module where they stand; they resolve on first use, so that importing the package
# costs nothing (PEP 562).
_NAMES = {
    "publish.conditional": "ConditionalMasking",
    "publish.reverse_mapping": "ReverseMapping",
    "publish.additive": "AdditiveNoise",
    "masking.swapping": "DataSwapping RankSwapping",
    "masking.shuffling": "DataShuffling",
    "masking.multiplicative": "MultiplicativeNoise",
    "disclosure.audit": "audit Audit",
    "disclosure.risk": "risk",
    "disclosure.risk_result": "Risk RecordRisk",
    "disclosure.column.insiders": "InsiderRisk",
    "disclosure.column.linkage": "Linkage",
    "planning.plan": "plan",
    "planning.plan_result": "Plan",
    "reports.report": "report",
    "publish.masking": "mask_table mask_file",
    "publish.read": "read_release read_counts",
    "publish.release": "Release",
    "reports.plot_release": "plot_release",
    "files.csv_text": "CsvFormat",
    "files.read_column": "read_column",
    "errors": "CondmaskError FileError ReleaseError ReleaseWarning",
    "estimates.estimate": "Estimate",
    "estimates.designed": "DesignEstimate",
    "designs.design": "Design",
    "estimates.counts": "Counts",
    "estimates.bands": "compare_distributions",
    "studies.simulate": "simulate StudyWarning",
    "studies.compare": "compare MethodComparison",
    "studies.result": "StudyResult",
    "studies.populations": "NormalCopula Resampled paper_population",
    "_randomness": "Key",
    "inference.interval": "EstimateWarning",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [*_HOMES, "dask", "kernels"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'condmask' has no attribute {name!r}")
    home = import_module(f"condmask.{_HOMES.get(name, name)}")
    value = globals()[name] = getattr(home, name, home)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
