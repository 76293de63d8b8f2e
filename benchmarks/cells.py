"""Long studies in cells: each is kept in a folder once it is done, and the table is of those
there."""

import argparse
import functools
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def parser(doc, replications):
    """The options that long studies share."""
    asked = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument("folder", type=Path, help="where cells are kept")
    asked.add_argument("--replications", type=int, default=replications, help="0: only the table")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--workers", type=int, default=1)
    asked.add_argument("--only", nargs="*", default=[], help="words that the names of cells have")
    asked.add_argument("--write", type=Path, help="a file for the table")
    return asked


def finish(asked, cells, run, table):
    """Compute the cells that are missing by ``run(name, replications, seed)``; print and write the
    table."""
    asked.folder.mkdir(parents=True, exist_ok=True)
    chosen = [name for name in cells if all(word in name.split() for word in asked.only)]
    if not chosen:
        raise SystemExit(f"--only must be words of one of the cells {', '.join(map(repr, cells))}")
    if asked.replications > 0:
        work = functools.partial(_kept, asked.folder, run, asked.replications, asked.seed)
        with ProcessPoolExecutor(asked.workers) as pool:
            for done, name in enumerate(pool.map(work, chosen), 1):
                print(f"{done} of {len(chosen)}: {name}", flush=True)
    files = {name: _file(asked.folder, name) for name in cells}
    known = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
    text = table({name: cell["found"] for name, cell in known.items()})
    counts = sorted({cell["replications"] for cell in known.values()})
    text = f"Replications: {', '.join(f'{count:,}' for count in counts)}.\n\n{text}"
    print(text)
    if asked.write is not None:
        asked.write.write_text(text)


def rows(lines):
    """A list-table whose first line has the heads."""
    shown = [
        f"   {'  ' if k else '* '}- {field}".rstrip()
        for line in lines
        for k, field in enumerate(line)
    ]
    return "\n".join([".. list-table::", "   :header-rows: 1", "", *shown, ""])


def _file(folder, name):
    return folder / f"{name.replace(' ', '-').replace(',', '')}.json"


def _kept(folder, run, replications, seed, name):
    """Compute a cell unless it is there with as many replications."""
    file = _file(folder, name)
    known = json.loads(file.read_text()) if file.exists() else {}
    if (known.get("replications"), known.get("seed")) != (replications, seed):
        found = {
            "replications": replications,
            "seed": seed,
            "found": run(name, replications, seed),
        }
        beside = file.with_suffix(".part")
        beside.write_text(json.dumps(found))
        beside.replace(file)
    return name
