"""The commands of an analyst and of a researcher, and the demonstration.

Heavy modules are imported in a command, and names of the package when they are used, so that
``--help`` answers at once.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import condmask as cm
from condmask.cli.options import OUTPUT, ColumnNames, Output, Several, TargetOption
from condmask.cli.text import listing

if TYPE_CHECKING:
    from condmask.estimates.estimate import Estimate


def estimate(
    release: str,
    *,
    column: ColumnNames = None,
    quantile: list[float] | None = None,
    cdf: list[float] | None = None,
    other: str | None = None,
    group: Several = None,
    weights: str | None = None,
    regress: Several = None,
    confidence_level: float = 0.95,
    target: TargetOption = "population",
    workers: int = 1,
    output: Output = OUTPUT,
) -> None:
    """Estimate mean, standard deviation, quantiles and more of the original from a masked file.

    For example: condmask estimate masked.parquet -c income --quantile .1 --quantile .9

    Parameters
    ----------
    release
        the masked file or folder
    column
        masked column (default: all masked columns)
    quantile
        estimate the quantile of this probability, between 0 and 1 (default: the deciles)
    cdf
        estimate the share of values up to this one
    other
        another column: estimate the correlation with it
    group
        estimate the mean within each group of this column; several columns are crossed
    weights
        estimate the mean weighted by this column, also within groups
    regress
        estimate the regression on this column of numbers, of yes and no, or of categories
    confidence_level
        coverage probability of intervals (default .95)
    target
        the true value that intervals cover: that of the population (default), or that of the
        original file
    workers
        number of threads
    """
    from condmask.errors import Refusals
    from condmask.publish.read import masked_column

    read = cm.read_release(release, workers=workers)
    options: dict[str, Any] = {"confidence_level": confidence_level, "target": target}
    results = dict[str, dict[str, object]]()
    texts = list[str]()
    refusals = Refusals()
    for name in [masked_column(read.schemes, name) for name in column or read.schemes]:
        calls = _estimators(
            read[name],
            quantile=quantile,
            cdf=cdf,
            other=None if other == name else other,
            group=group,
            weights=weights,
            regress=regress,
        )
        for statistic, call in calls.items():
            with refusals.collected():
                result = call(**options)
                texts.append(f"{name}: {result}")
                results.setdefault(name, {})[statistic] = _in_json(result)
    refusals.raise_all()
    output.show(results, "\n\n".join(texts))


def _estimators(
    estimate: "Estimate",
    *,
    quantile: list[float] | None,
    cdf: list[float] | None,
    other: str | None,
    group: Several,
    weights: str | None,
    regress: Several,
) -> dict[str, Callable[..., object]]:
    """Return the methods of the estimate that the options call for, by the name of the result."""
    quantiles = () if quantile is None else (quantile,)
    calls: dict[str, Callable[..., object]] = {
        "summary": partial(estimate.summary, *quantiles, points=cdf or ())
    }
    if other is not None:
        calls["correlation"] = partial(estimate.correlation_interval, other)
    if group is not None:
        calls["groups"] = partial(estimate.group_means, group, weights=weights)
    if weights is not None:
        calls["weighted_mean"] = partial(estimate.weighted_mean, weights)
    if regress is not None:
        calls["regression"] = partial(estimate.regress, regress)
    return calls


def _in_json(result: object) -> object:
    """Return an interval as a dict, and any other result as it is."""
    from condmask.inference.interval import Interval

    return result._asdict() if isinstance(result, Interval) else result


def info(release: str, *, output: Output = OUTPUT) -> None:
    """Show the columns of a masked file, and how they were masked.

    For example: condmask info masked.parquet

    Parameters
    ----------
    release
        the masked file or folder
    """
    read = cm.read_release(release)
    names = read.source.names
    clear = ", ".join(name for name in names if name not in read.schemes)
    parts = f" in {len(read.parts)} parts" if len(read.parts) > 1 else ""
    lines = [f"{read.records:,} records{parts}, {len(names)} columns", *listing(read.schemes)]
    output.show(read, "\n".join([*lines, f"not masked: {clear}"] if clear else lines))


def simulate(
    study: str,
    *,
    checkpoint: str | None = None,
    out: str | None = None,
    plot: str | None = None,
    workers: int = 1,
    output: Output = OUTPUT,
) -> None:
    """Run a Monte Carlo study: bias, RMSE and risk of masking schemes.

    For example: condmask simulate study.toml --out study.npz

    Parameters
    ----------
    study
        the study, a TOML file
    checkpoint
        save progress here, and resume from it
    out
        save the result in this file
    plot
        draw bias and RMSE in this file
    workers
        number of threads
    """
    from condmask import _checks
    from condmask.studies.simulate import read_study

    # before the study, which may take hours
    for path, name in ((out, "out"), (plot, "plot")):
        if path is not None:
            _checks.writable(path, name)
    described = read_study(study)
    result = cm.simulate(**described, workers=workers, progress=True, checkpoint=checkpoint)
    output.show(result)
    if out is not None:
        result.save(out)
    if plot is not None:
        result.plot(plot)
    if result.replications < described["replications"]:
        raise KeyboardInterrupt


def demo(*, out: str | None = None, people: str | None = None, output: Output = OUTPUT) -> None:
    """Mask weekly earnings of a survey, estimate from the masked file, and show both side by side.

    For example: condmask demo --people people.parquet

    Parameters
    ----------
    out
        keep the masked file under this name
    people
        only write the file of the other examples: 20,000 invented people
    """
    from condmask import demo as example

    if people is not None:
        records = example.write_people(people)
        output.show({"n": records}, f"{people}: {records:,} invented people")
    else:
        output.show(example.run(out))
