"""What does each public call take: memory, time, and the time until it answers Ctrl-C?

    python -m benchmarks.limits FOLDER --write docs/measured/limits.rst

Linux. Each call runs in a process of its own for each size, on data made before. Memory is what the process
holds for itself at most, beyond what it held when condmask was imported and the data were there; what lies in
temporary files mapped into memory is not in it. Runs of the largest size are interrupted at random moments,
as many as there are replications. Times are those of the processor. Each call is kept in FOLDER when it is
done and not measured again, and so are the data; ``--only estimate`` takes some calls, ``--replications 0``
writes the table of those that are there.
"""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
import warnings
from functools import cached_property
from pathlib import Path

import numpy as np

import condmask as cm
from benchmarks.cells import command, row

SIZES = (500_000, 4_000_000)
MB = 2.0**20
BASE = 256.0  # MB, that a call may take whatever the number of records
ARRAYS, FILES = 64.0, 8.0  # bytes a record beside that, of arrays, and from files beyond the result
ANSWER = 1.0  # s, within which Ctrl-C ends a call
SHORT = 0.5  # s; a call that is done in so many is not interrupted
COPIES = 20  # columns of a wide table, which has so many times fewer rows
STEP = 0.002  # s between two looks at the memory
STUDY = """n = {n}
replications = 1000
rng = 1

[[schemes]]
name = "masked"
p = 0.6
sigma = 1000.0
"""

SCHEMES = {
    "counted": {"sigma": 500.0},
    "sorted": {"sigma": 500.0, "step": 0.0},
    "reverse": {"sigma": 0.5, "scale": "log", "reverse_mapping": True, "aggregate_ends": 5},
    "strata": {"sigma": 500.0, "strata": ["age", "region"]},
}


def scheme(kind="counted"):
    return cm.ConditionalMasking(0.6, **SCHEMES[kind])


class Data:
    """What calls are given, made once for each size and kept in a folder."""

    def __init__(self, folder, n):
        self.folder, self.n = Path(folder), n

    def array(self, name, make):
        file = self.folder / f"{name}-{self.n}.npy"
        if not file.exists():
            np.save(file, make())
        return np.load(file)

    def masked(self, kind):
        return self.array(kind, lambda: self._masked(kind))

    def _masked(self, kind):
        visible = kind == "sorted"  # a release without a grid
        return scheme(kind).mask(self.x, rng=1, strata=self._strata(kind), accept_visible_coins=visible)

    def _strata(self, kind):
        return [self.labels, self.region] if kind == "strata" else None

    def estimate(self, kind="counted"):
        return scheme(kind).estimate(self.masked(kind), strata=self._strata(kind))

    @cached_property
    def x(self):
        return self.array("x", lambda: np.random.default_rng(1).lognormal(6.0, 0.7, self.n))

    @cached_property
    def w(self):
        return self.array("w", lambda: self.x + np.random.default_rng(2).normal(0.0, 800.0, self.n))

    @cached_property
    def labels(self):
        return self.array("labels", lambda: np.random.default_rng(3).integers(0, 100, self.n))

    @cached_property
    def region(self):
        return self.array("region", lambda: np.random.default_rng(4).integers(0, 3, self.n))

    @cached_property
    def design(self):
        rng = np.random.default_rng(6)
        return self.array("design", lambda: rng.normal(size=(self.n, 10)) + 1e-3 * self.x[:, None])

    @cached_property
    def table(self):
        return {"income": self.x, "wealth": self.w, "age": self.labels, "region": self.region}

    @cached_property
    def wide(self):
        rng = np.random.default_rng(5)
        made = self.array("wide", lambda: rng.lognormal(6.0, 0.7, (self.n // COPIES, COPIES)))
        return {f"c{k}": made[:, k] + 0.0 for k in range(COPIES)}

    @cached_property
    def parquet(self):
        return self._file("people.parquet")

    @cached_property
    def csv(self):
        return self._file("people.csv")

    @cached_property
    def arrow(self):
        return self._file("people.arrow")

    def _file(self, name):
        path = self.folder / f"{self.n}-{name}"
        if not path.exists():
            import pyarrow as pa
            import pyarrow.csv
            import pyarrow.feather
            import pyarrow.parquet

            table = pa.table(self.table)
            kind = path.suffix[1:]
            if kind == "parquet":
                pa.parquet.write_table(table, path)
            elif kind == "csv":
                pa.csv.write_csv(table, path)
            else:
                pa.feather.write_feather(table, path, compression="uncompressed")
        return path

    @property
    def target(self):
        """A name for a file that is not there."""
        return self.folder / f"{os.getpid()}.parquet"

    def release(self, kind="counted"):
        path = self.folder / f"{self.n}-{kind}.parquet"
        if not path.exists():
            cm.mask_file(self.parquet, path, {"income": scheme(kind)}, log=False, rng=1, **OPEN)
        return path

    def counts(self):
        counts = cm.Counts(scheme())
        counts.update(self.masked("counted"))
        return counts

    def study(self):
        path = self.folder / f"{self.n}-study.toml"
        path.write_text(STUDY.format(n=self.n))
        return path


CALLS = {}  # what is measured: name, group, the data that are made before, and the call


def call(name, run, *made, group="arrays"):
    CALLS[name] = (group, made, run)


def estimates(name, run, *made, kinds=("counted", "sorted", "reverse")):
    """A method of Estimate, for each kind of sample."""
    for kind in kinds:

        def asked(data, kind=kind):
            return run(data, data.estimate(kind))

        call(f"Estimate.{name}, {kind}", asked, f"masked {kind}", *made)


def cli(name, arguments, *made):
    """A command of condmask."""

    def asked(data):
        from condmask.cli import main

        return main([str(word) for word in arguments(data)])

    call(f"condmask {name}", asked, *made, group="command")


TWO = [0.1, 0.5]
OPEN = {"accept_visible_coins": True}  # what an audit would refuse is measured all the same
ONE = {"income": scheme()}
SAID = ("-c", "income", "--p", "0.6", "--sigma", "500")

for kind in ("counted", "reverse", "strata"):
    given = [SCHEMES[kind].get("strata") and "labels", SCHEMES[kind].get("strata") and "region"]
    call(
        f"ConditionalMasking.mask, {kind}",
        lambda d, k=kind: d._masked(k),
        "x",
        *filter(None, given),
    )
call("AdditiveNoise.mask", lambda d: cm.AdditiveNoise(500.0).mask(d.x), "x")
call("MultiplicativeNoise.mask", lambda d: cm.MultiplicativeNoise(0.5).mask(d.x), "x")
call("DataSwapping.mask", lambda d: cm.DataSwapping().mask(d.x), "x")
call("RankSwapping.mask", lambda d: cm.RankSwapping(10.0).mask(d.x), "x")
call("DataShuffling.mask", lambda d: cm.DataShuffling().mask(d.x, given=d.w), "x", "w")
call("mask_table", lambda d: cm.mask_table(d.table, ONE, **OPEN), "table")
call("mask_table, 20 columns", lambda d: cm.mask_table(d.wide, {"c0": scheme()}, **OPEN), "wide")
call("audit", lambda d: cm.audit(d.table, ONE), "table")
call("audit, 20 columns", lambda d: cm.audit(d.wide, {"c0": scheme()}), "wide")
call("audit, reverse", lambda d: cm.audit(d.table, {"income": scheme("reverse")}), "table")
call("risk", lambda d: cm.risk(d.x, scheme(), d=250.0), "x")
call("risk, others", lambda d: cm.risk(d.x, scheme(), d=250.0, others=d.w), "x", "w")
call("risk, reverse", lambda d: cm.risk(d.x, scheme("reverse"), d=250.0), "x")
for kind in ("counted", "sorted", "reverse"):
    call(
        f"release_risk, {kind}",
        lambda d, k=kind: cm.release_risk(d.x, d.masked(k), scheme(k), d=250.0),
        "x",
        f"masked {kind}",
    )
    call(
        f"record_risk, {kind}",
        lambda d, k=kind: cm.record_risk(d.x, d.masked(k), scheme(k), d=250.0),
        "x",
        f"masked {kind}",
    )
call("insider_risk", lambda d: cm.insider_risk(d.x, scheme("reverse"), d=250.0), "x")
call(
    "record_linkage",
    lambda d: cm.record_linkage(d.x, d.masked("counted"), others=d.w),
    "x",
    "w",
    "masked counted",
)
call("uniques", lambda d: cm.uniques(d.table, scheme()), "table")
call("plan", lambda d: cm.plan(d.x), "x")
call("plan, other", lambda d: cm.plan(d.x, other=d.w), "x", "w")
call("plan, reverse", lambda d: cm.plan(d.x, reverse_mapping=True, scale="log"), "x")
call("Plan.check", lambda d: cm.plan(d.x).check(scheme()), "x")
call("compare", lambda d: cm.compare(d.x, scheme(), d=250.0), "x")
call(
    "simulate",
    lambda d: cm.simulate(cm.paper_population(), {"c": scheme()}, n=d.n, replications=100),
)
call(
    "simulate, reverse, a resampled file",
    lambda d: cm.simulate(cm.Resampled(d.x), {"r": scheme("reverse")}, n=d.n, replications=20),
    "x",
)
call(
    "simulate, two workers, intervals",
    lambda d: cm.simulate(
        cm.paper_population(),
        {"c": scheme()},
        n=d.n,
        replications=100,
        confidence_levels=(0.95,),
        workers=2,
    ),
)
call(
    "compare_distributions", lambda d: cm.compare_distributions(d.estimate(), d.estimate()), "masked counted"
)
call(
    "compare_distributions, sorted",
    lambda d: cm.compare_distributions(d.estimate("sorted"), d.estimate("sorted")),
    "masked sorted",
)
call("Counts.update", lambda d: d.counts(), "masked counted")
call("Counts.to_bytes", lambda d: cm.Counts.from_bytes(d.counts().to_bytes()), "masked counted")

estimates("mean", lambda d, e: e.mean())
estimates("summary", lambda d, e: e.summary())
estimates("moment", lambda d, e: e.moment(4, central=True), kinds=("sorted",))
estimates("moment_interval", lambda d, e: e.moment_interval(3))
estimates("variance_interval", lambda d, e: e.variance_interval())
estimates("expectation_interval", lambda d, e: e.expectation_interval(np.log1p, floor=0.0))
estimates("covariance_interval", lambda d, e: e.covariance_interval(d.w), "w")
estimates("correlation_interval", lambda d, e: e.correlation_interval(d.w), "w")
estimates("cdf", lambda d, e: e.cdf(np.linspace(0.0, 3000.0, 1000)))
estimates("cdf, bandwidth", lambda d, e: e.cdf(np.linspace(0.0, 3000.0, 1000), bandwidth="scott"))
estimates("cdf, monotone", lambda d, e: e.cdf(np.linspace(0.0, 3000.0, 1000), monotone=True))
estimates("cdf, as many points", lambda d, e: e.cdf(d.x), "x")
estimates("pdf", lambda d, e: e.pdf(np.linspace(0.0, 3000.0, 1000)))
estimates("quantile", lambda d, e: e.quantile(TWO))
estimates("quantile, as many", lambda d, e: e.quantile(np.linspace(0.001, 0.999, d.n)))
estimates("quantile_interval", lambda d, e: e.quantile_interval(TWO))
estimates("cdf_interval", lambda d, e: e.cdf_interval([300.0, 800.0]))
estimates("cdf_interval, as many points", lambda d, e: e.cdf_interval(d.x), "x")
estimates("cdf_band", lambda d, e: e.cdf_band())
estimates("gini_interval", lambda d, e: e.gini_interval())
estimates("lorenz_interval", lambda d, e: e.lorenz_interval(TWO))
estimates("group_means", lambda d, e: e.group_means(d.labels), "labels")
estimates(
    "group_means, weights and clusters",
    lambda d, e: e.group_means(d.labels, weights=abs(d.w), clusters=d.region),
    "labels",
    "w",
    "region",
)
estimates("group_means, as many groups", lambda d, e: e.group_means(np.arange(d.n) // 2), kinds=("counted",))
estimates("weighted_mean", lambda d, e: e.weighted_mean(np.abs(d.w)), "w")
estimates("total", lambda d, e: e.total())
estimates("regress", lambda d, e: e.regress(d.w), "w")
estimates(
    "regress, 10 columns",
    lambda d, e: e.regress(d.design),
    "design",
    kinds=("counted",),
)
estimates("pseudo_values", lambda d, e: e.pseudo_values())
call(
    "Estimate.part",
    lambda d: d.estimate("strata").part(d.region == 1).mean(),
    "masked strata",
    "labels",
    "region",
)
estimates("plot_cdf", lambda d, e: e.plot_cdf(d.target.with_suffix(".png")))
estimates("N", lambda d, e: e.N, kinds=("reverse",))

for kind in ("counted", "reverse", "strata"):
    call(
        f"mask_file, {kind}",
        lambda d, k=kind: cm.mask_file(d.parquet, d.target, {"income": scheme(k)}, log=False, **OPEN),
        "parquet",
        group="file",
    )
call(
    "mask_file, CSV",
    lambda d: cm.mask_file(d.csv, d.target.with_suffix(".csv"), ONE, log=False, **OPEN),
    "csv",
    group="file",
)
call(
    "mask_file, Arrow",
    lambda d: cm.mask_file(d.arrow, d.target.with_suffix(".arrow"), ONE, log=False, **OPEN),
    "arrow",
    group="file",
)
call(
    "mask_file, log",
    lambda d: cm.mask_file(d.parquet, d.target, ONE, log=d.target.with_suffix(".jsonl"), **OPEN),
    "parquet",
    group="file",
)
call("Release.write", lambda d: cm.mask_table(d.table, ONE, **OPEN).write(d.target, log=False), "table")
call("read_column", lambda d: cm.read_column(d.parquet, "income"), "parquet", group="read")
call("read_column, CSV", lambda d: cm.read_column(d.csv, "income"), "csv", group="read")
for kind in ("counted", "reverse", "strata"):
    call(
        f"read_release, {kind}",
        lambda d, k=kind: cm.read_release(d.release(k), "income").summary(),
        f"release {kind}",
        group="file",
    )
    call(
        f"read_release, {kind}, group_means",
        lambda d, k=kind: cm.read_release(d.release(k), "income").group_means("age"),
        f"release {kind}",
        group="file",
    )
call("read_counts", lambda d: cm.read_counts(d.release(), "income"), "release counted", group="file")
call(
    "report",
    lambda d: cm.report(d.release(), d.target.with_suffix(".html"), original=d.parquet, d={"income": 250.0}),
    "parquet",
    "release counted",
    group="file",
)
call(
    "plot_release",
    lambda d: cm.plot_release(d.x, cm.read_release(d.release()), "income", path=d.target.with_suffix(".png")),
    "x",
    "release counted",
    group="file",
)

cli("plan", lambda d: ("plan", d.parquet, "-c", "income"), "parquet")
cli("audit", lambda d: ("audit", d.parquet, *SAID), "parquet")
cli(
    "mask",
    lambda d: ("mask", d.csv, d.target.with_suffix(".csv"), *SAID, "--no-log", "--accept-visible-coins"),
    "csv",
)
cli("risk", lambda d: ("risk", d.parquet, *SAID, "--d", "250"), "parquet")
cli("estimate", lambda d: ("estimate", d.release(), "-c", "income"), "release counted")
cli("simulate", lambda d: ("simulate", d.study()))
cli("info", lambda d: ("info", d.release()), "release counted")


def prepare(data, made):
    for each in made:
        name, *kind = each.split()
        found = getattr(data, name)
        if kind:
            found(*kind)


def inside(folder, name, n):
    """One call, in this process: says when it begins, what it held before, and how it ended."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # off where the parent runs in the background
    data, (_, made, run) = Data(folder, n), CALLS[name]
    prepare(data, made)
    for kind in (each.split()[1] for each in made if each.startswith("masked")):
        data.masked = {kind: data.masked(kind)}.__getitem__
    print(held(os.getpid()), flush=True)
    start = time.process_time()
    try:
        code = run(data)
    except ValueError as error:  # refused
        print(f"refused {time.process_time() - start} {type(error).__name__}: {str(error)[:150]}", flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
    else:
        if isinstance(code, int) and code == 130:
            sys.exit(130)
        print("done", time.process_time() - start, flush=True)


def held(pid):
    """Bytes that a process holds for itself: no pages of files."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem")))


def started(folder, name, n):
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.limits", "--inside", folder, name, str(n)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    first = process.stdout.readline()
    if not first:
        raise RuntimeError(f"{name}: {process.communicate()[1][-300:]}")
    return process, int(first)


def measured(folder, name, n):
    """Megabytes beyond what was there, seconds, and what was refused."""
    process, before = started(folder, name, n)
    peak = before
    while process.poll() is None:
        try:
            peak = max(peak, held(process.pid))
        except OSError:
            break
        time.sleep(STEP)
    out, error = process.stdout.read(), process.stderr.read()  # communicate() forgets what was read ahead
    last = next((line for line in out.splitlines() if line.startswith(("done ", "refused "))), None)
    if last is None:
        raise RuntimeError(f"{name} with {n} records: exit code {process.returncode}, {error[-300:]}")
    how, seconds, *said = last.split(maxsplit=2)
    return (peak - before) / MB, float(seconds), said[0] if how == "refused" else ""


def answered(folder, name, n, seconds, count):
    """The most seconds from Ctrl-C until the process had ended, of several moments: processor, and clock."""
    most = 0.0, 0.0
    for _ in range(count):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        process, _ = started(folder, name, n)
        begun, moment, sent = processor(process.pid), random.uniform(0.02, 0.95) * seconds, None
        while process.poll() is None:
            time.sleep(STEP)
            if sent is None and processor(process.pid) - begun > moment:
                sent = time.perf_counter(), processor(process.pid)
                process.send_signal(signal.SIGINT)
        ended, error = time.perf_counter(), process.communicate()[1]
        if sent is None:
            continue
        all_used = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = all_used.ru_utime + all_used.ru_stime - used.ru_utime - used.ru_stime - sent[1]
        most = max(most, (taken, ended - sent[0]))
        # beyond the call, Ctrl-C ends this script itself
        of_call = "Traceback" in error and str(Path(cm.__file__).parent) in error
        if process.returncode not in (0, 130, -signal.SIGINT) or of_call:
            raise RuntimeError(f"{name}: exit code {process.returncode}, {error[-3000:]}")
    return most


def processor(pid):
    """The seconds of processor time that a process has used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cells():
    return [(re.sub("[^A-Za-z0-9]+", "-", name), name) for name in CALLS]


def run(cell, replications, seed):
    random.seed(seed)
    folder, name = sys.argv[1], cell[1]
    found = [measured(folder, name, n) for n in SIZES]
    memory, seconds, said = zip(*found, strict=True)
    answer = answered(folder, name, SIZES[-1], seconds[-1], replications) if seconds[-1] > SHORT else None
    return {
        "name": name, "replications": replications, "seed": seed, "memory": memory, "seconds": seconds,
        "refused": said[-1], "answer": answer,
    }  # fmt: skip


def table(found):
    """A row for each call; what is beyond its bound is marked."""
    few, many = SIZES
    heads = ["", f"MB, {few:,} records", f"MB, {many:,}", "bytes a record", "s", "Ctrl-C, s", "beyond"]
    rows = [[head or "call" for head in heads]]
    for cell in found:
        group = CALLS[cell["name"]][0]
        allowed = ARRAYS if group == "arrays" else FILES + (8.0 if group == "read" else 0.0)
        each = (cell["memory"][1] - cell["memory"][0]) * MB / (many - few)
        marks = [
            word
            for word, beyond in (
                ("memory", cell["memory"][1] > BASE + allowed * many / MB),
                ("Ctrl-C", cell["answer"] is not None and min(cell["answer"]) > ANSWER),
            )
            if beyond
        ]
        figures = [f"{held:,.0f}" for held in cell["memory"]] + [f"{max(0.0, each):.0f}"]
        answer = "" if cell["answer"] is None else f"{min(cell['answer']):.1f}"
        rows.append([cell["name"], *figures, f"{cell['seconds'][1]:.2g}", answer, ", ".join(marks)])
    lines = [line for fields in rows for line in row(fields)]
    return "\n".join([".. list-table::", "   :header-rows: 1", "", *lines, ""])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        command(__doc__, cells(), run, table, 3)
