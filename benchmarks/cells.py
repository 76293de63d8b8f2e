"""Long studies in cells: each is kept in a folder once it is done, and the table is of those there."""

import argparse
import functools
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def command(doc, cells, run, table, replications):
    """The command of a study: ``run(cell, replications, seed)`` of cells, which begin with their names."""
    parser = options(doc, replications)
    parser.add_argument("folder", type=Path, help="where cells are kept")
    parser.add_argument("--only", nargs="*", default=[], help="words that the names of cells have")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    chosen = [cell for cell in cells if all(f"-{word}-" in f"-{cell[0]}-" for word in asked.only)]
    if not chosen:
        parser.error(f"--only must leave some cells, got {asked.only}")
    if asked.replications > 0:
        work = functools.partial(_kept, asked.folder, run, asked.replications, asked.seed)
        with ProcessPoolExecutor(asked.workers) as pool:
            for done, name in enumerate(pool.map(work, chosen), 1):
                print(f"{done} of {len(chosen)}: {name}", flush=True)
    files = [asked.folder / f"{name}.json" for name, *_ in cells]
    finish(table([json.loads(file.read_text()) for file in files if file.exists()]), asked)


def options(doc, replications):
    """The options that long studies share."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--replications", type=int, default=replications)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write", type=Path, help="a file for the table")
    return parser


def finish(text, asked):
    """Print a table, and write it where it is asked for."""
    print(text)
    if asked.write is not None:
        asked.write.write_text(text)


def row(fields):
    """A row of a list-table."""
    return [f"   {'*' if k == 0 else ' '} - {field}".rstrip() for k, field in enumerate(fields)]


def _kept(folder, run, replications, seed, cell):
    """Compute a cell unless it is there with as many replications."""
    file = folder / f"{cell[0]}.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    if (known.get("replications"), known.get("seed")) != (replications, seed):
        beside = file.with_suffix(".part")
        beside.write_text(json.dumps(run(cell, replications, seed)))
        beside.replace(file)
    return cell[0]
