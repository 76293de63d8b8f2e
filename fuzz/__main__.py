"""``python -m fuzz``: run targets, or repeat what one did with an input."""

import argparse
import sys
from pathlib import Path

from fuzz.repeat import fault_of, shortest
from fuzz.runner import fuzz
from fuzz.target import load, names


def main():
    """Run what the command line asks for; the exit code is 1 if there was a fault."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description="Run targets; without any, all of them."
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(names()))
    parser.add_argument("--seconds", type=float, default=60.0, help="in all (default: 60)")
    parser.add_argument("--inputs", type=int, help="in all; the time ends it, too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="processes at once (default: 2)")
    parser.add_argument("--repeat", type=Path, metavar="FILE", help="run one target on this input alone")
    parser.add_argument("--shorten", type=Path, metavar="FILE", help="leave out what a fault does not need")
    args = parser.parse_args()
    unknown = {name for name in args.targets if "." not in name} - {*names()}
    if unknown:
        parser.error(f"targets must be among {', '.join(names())}, got {', '.join(sorted(unknown))}")
    if args.repeat or args.shorten:
        if len(args.targets) != 1:
            parser.error("--repeat and --shorten need one target")
        target = load(args.targets[0])
        if args.shorten:
            less = shortest(target, args.shorten.read_bytes())
            if less is not None:
                args.shorten.write_bytes(less)
            return int(less is None)
        fault = fault_of(target, args.repeat.read_bytes(), show=True)
        print(fault or "no fault")
        return int(fault is not None)
    results = fuzz(
        args.targets or names(),
        seconds=args.seconds,
        inputs=args.inputs,
        seed=args.seed,
        workers=args.workers,
    )
    for result in results:
        print(f"{result.target:20}{result.inputs:>12,} inputs{len(result.faults):>4} faults")
    inputs, faults = sum(result.inputs for result in results), sum(len(result.faults) for result in results)
    print(f"{'all':20}{inputs:>12,} inputs{faults:>4} faults")
    return int(any(result.faults for result in results))


if __name__ == "__main__":
    sys.exit(main())
