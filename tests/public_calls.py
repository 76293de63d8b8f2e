"""A sound call of every public name, from its signature: what it needs by the names of its parameters.

A parameter that has no entry here has its default in the sound call, so that a new one is attacked from its
first day (tests/test_hostile_arguments.py).
"""

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from hostile import GIVEN, N

import condmask as cm

OTHER = GIVEN**0.5 + np.random.default_rng(8).normal(size=N)
TOWNS = np.resize(["a", "b"], N)
FRAME = pd.DataFrame({"x": GIVEN, "other": OTHER, "town": TOWNS})
SCHEME = cm.ConditionalMasking(0.6, 300.0)
MAPPED = cm.ConditionalMasking(0.6, 300.0, reverse_mapping=True)
WITHIN = cm.ConditionalMasking(0.6, 300.0, strata="town")
OPEN = {"accept_visible_coins": True}
STUDY = {"n": 20, "replications": 2, "rng": 1}
SCHEMES = {
    "ConditionalMasking": SCHEME,
    "AdditiveNoise": cm.AdditiveNoise(300.0),
    "MultiplicativeNoise": cm.MultiplicativeNoise(0.2),
    "DataSwapping": cm.DataSwapping(),
    "RankSwapping": cm.RankSwapping(10.0),
    "DataShuffling": cm.DataShuffling(),
}
# what those who write a scheme define or call, and what only functions make
OF_AUTHORS = {
    "agree", "canonical", "check", "key_entries", "mask_rows", "masked_columns", "publish",
    "read", "within", "sentence",
}  # fmt: skip
MADE = {
    "Audit", "Risk", "RecordRisk", "InsiderRisk", "Linkage", "Plan", "Release", "Estimate",
    "MethodComparison", "StudyResult",
}  # fmt: skip
NO_CALL = {"dask", "kernels"}


class Call(NamedTuple):
    """What is called, and the arguments of a sound call, by name."""

    function: Callable[..., Any]
    arguments: dict[str, Any]

    @property
    def parameters(self) -> list[str]:
        """The names of all parameters."""
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return [
            name
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind not in kinds
        ]

    def __call__(self, **hostile: Any) -> Any:
        arguments = self.arguments | hostile
        parameters = inspect.signature(self.function).parameters
        positional = [
            arguments.pop(name)
            for name, parameter in parameters.items()
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY and name in arguments
        ]
        return self.function(*positional, **arguments)


def methods(of: Any, name: str, skip: set[str] = frozenset(), **given: Any) -> Iterator[tuple[str, Call]]:
    """The public methods of an object, with those of the given arguments that they need."""
    for method, function in inspect.getmembers(type(of), inspect.isroutine):
        if method.startswith("_") or method in skip or not callable(getattr(of, method)):
            continue
        function = getattr(of, method)
        parameters = inspect.signature(function).parameters
        needed = {
            key: given[key]
            for key, parameter in parameters.items()
            if key in given and (parameter.default is inspect.Parameter.empty or key in given.get("also", ()))
        }
        yield f"{name}.{method}", Call(function, needed)


@cache
def _masked(scheme):
    return scheme.mask(GIVEN, rng=1, **(OPEN if scheme in (SCHEME, MAPPED) else {}))


def write_files(folder: Path) -> None:
    """The files that calls read: a source, its release, a study's result."""
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"x": rng.lognormal(8, 0.5, 120), "other": rng.lognormal(8, 0.5, 120)})
    frame.to_csv(folder / "source.csv", index=False)
    frame.to_parquet(folder / "source.parquet")
    for suffix in ("csv", "parquet"):
        cm.mask_file(
            folder / f"source.{suffix}", folder / f"released.{suffix}", {"x": SCHEME}, log=False, **OPEN
        )
    cm.simulate(cm.paper_population(), [SCHEME], **STUDY).save(folder / "study.npz")


def calls(folder: Path) -> dict[str, Call]:
    """A sound call of every public name and public method, by name; files lie in this folder."""
    z, mapped = _masked(SCHEME), _masked(MAPPED)
    estimate, of_mapped = SCHEME.estimate(z), MAPPED.estimate(mapped)
    release = cm.mask_table(FRAME, {"x": SCHEME}, rng=1, **OPEN)
    counts = cm.Counts(SCHEME)
    counts.update(z)
    study = cm.simulate(cm.paper_population(), [SCHEME], **STUDY, quantiles=[0.25, 0.5])
    of_estimate = {
        "t": 3000.0,
        "q": 0.5,
        "value": 0.5,
        "g": np.sqrt,
        "labels": TOWNS,
        "W": OTHER,
        "weights": np.ones(N),
        "order": 2,
        "other": OTHER,
        "rows": np.arange(N) < N // 2,
        "points": 9,
        "also": ("other", "points"),
        "draws": 20,
    }
    of_scheme = {
        "x": GIVEN,
        "d": 100.0,
        "given": OTHER,
        "accept_visible_coins": True,
        "also": ("accept_visible_coins",),
    }
    named: dict[str, Call] = {
        "ConditionalMasking": Call(cm.ConditionalMasking, {"p": 0.6, "sigma": 300.0}),
        "AdditiveNoise": Call(cm.AdditiveNoise, {"sigma": 300.0}),
        "MultiplicativeNoise": Call(cm.MultiplicativeNoise, {"sigma": 0.2}),
        "RankSwapping": Call(cm.RankSwapping, {"percent": 10.0}),
        "audit": Call(cm.audit, {"data": GIVEN, "scheme": SCHEME}),
        "risk": Call(cm.risk, {"data": GIVEN, "schemes": SCHEME, "d": 100.0}),
        "risk of a release": Call(cm.risk, {"data": GIVEN, "schemes": SCHEME, "d": 100.0, "released": z}),
        "plan": Call(
            cm.plan, {"x": GIVEN, "d": 100.0, "p": [0.5], "sigma": [300.0], "reverse_mapping": False}
        ),
        "report": Call(
            cm.report,
            {"release": "released.csv", "path": "report.html", "original": "source.csv", "force": True},
        ),
        "mask_table": Call(cm.mask_table, {"frame": FRAME, "schemes": {"x": SCHEME}, **OPEN}),
        "plot_release": Call(
            cm.plot_release, {"original": FRAME, "release": release, "path": "a.png", "confidence_level": 0.9}
        ),
        "mask_file": Call(
            cm.mask_file,
            {
                "source": "source.csv",
                "target": "target.csv",
                "schemes": {"x": SCHEME},
                "log": False,
                "force": True,
                **OPEN,
            },
        ),
        "CsvFormat": Call(cm.CsvFormat, {}),
        "read_release": Call(cm.read_release, {"path": "released.csv"}),
        "read_schemes": Call(cm.read_schemes, {"path": "released.csv"}),
        "read_column": Call(cm.read_column, {"path": "released.csv", "name": "x"}),
        "read_counts": Call(cm.read_counts, {"path": "released.csv"}),
        "Counts": Call(cm.Counts, {"scheme": SCHEME}),
        "compare_distributions": Call(
            cm.compare_distributions, {"a": estimate, "b": estimate, "points": 9, "draws": 20, "rng": 1}
        ),
        "simulate": Call(
            cm.simulate,
            {"population": cm.paper_population(), "schemes": [SCHEME], **STUDY, "quantiles": [0.5]},
        ),
        "compare": Call(cm.compare, {"x": GIVEN, "scheme": SCHEME, "d": 100.0, "replications": 10, "rng": 1}),
        "NormalCopula": Call(cm.NormalCopula, {"margins": cm.paper_population().margins}),
        "Resampled": Call(cm.Resampled, {"x": GIVEN}),
        "Key": Call(cm.Key, {}),
        "Counts.from_bytes": Call(cm.Counts.from_bytes, {"data": counts.to_bytes()}),
        "StudyResult.load": Call(cm.StudyResult.load, {"path": "study.npz"}),
        "ConditionalMasking.estimate within": Call(WITHIN.estimate, {"z": z, "strata": TOWNS}),
        "ConditionalMasking.mask within": Call(WITHIN.mask, {"x": GIVEN, "strata": TOWNS, **OPEN}),
        "ConditionalMasking.mask rows": Call(SCHEME.mask, {"x": GIVEN, "rng": 1, "rows": (0, 9), **OPEN}),
        "mask_table within": Call(cm.mask_table, {"frame": FRAME, "schemes": {"x": WITHIN}, **OPEN}),
    }
    for name, scheme in SCHEMES.items():
        named |= methods(scheme, name, OF_AUTHORS, z=_masked(SCHEME), entries=scheme.to_dict(), **of_scheme)
    named |= methods(MAPPED, "reverse-mapped", OF_AUTHORS, z=mapped, entries=MAPPED.to_dict(), **of_scheme)
    named |= methods(estimate, "Estimate", {"of_release"}, **of_estimate)
    named |= methods(of_mapped, "Estimate after reverse mapping", {"of_release"}, **of_estimate)
    named |= methods(SCHEME.estimate(np.stack([z, z])), "Estimate of rows", {"of_release"}, **of_estimate)
    named |= methods(counts, "Counts", {"from_bytes"}, scheme=SCHEME, z=z)
    named["Counts.merge"] = Call(counts.merge, {"other": cm.Counts(SCHEME)})
    named |= methods(cm.risk(GIVEN, SCHEME, d=100.0), "Risk", d=100.0, attacker="best attacker")
    named |= methods(named["plan"](), "Plan", replications=2, path="a.png", also=("replications", "path"))
    named |= methods(named["compare"](), "MethodComparison", path="a.png", also=("path",))
    named |= methods(
        study,
        "StudyResult",
        {"load"},
        path="a.png",
        also=("path",),
        scheme=repr(SCHEME),
        estimator="T_1",
        statistic="mean",
        what="rmse",
    )
    named["StudyResult.save"] = Call(study.save, {"path": "saved.npz"})
    named |= methods(
        release,
        "Release",
        {"data"},
        path="written.csv",
        log=False,
        force=True,
        also=("log", "force"),
        key="x",
        outcome="other",
        on=["x"],
    )
    named["Estimate.plot_cdf"] = Call(estimate.plot_cdf, {"path": "a.png"})
    return {name: call for name, call in named.items() if call.parameters}
