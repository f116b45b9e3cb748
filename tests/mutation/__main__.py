"""`make mutants PART=proxy/connection`: how many bugs in a part its tests notice, and which they do not."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import signal
import sys
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import pytest

from tests.mutation.children import Job, outcomes
from tests.mutation.operators import Mutant, mutants
from tests.mutation.report import KILLED, report, row, rows_of
from tests.mutation.session import Session, Timed
from tests.places import ROOT

PACKAGE: Final = ROOT / "barnabas"
"""The package: each part is a folder in it, or a link to one."""

RESULTS: Final = ROOT / "build" / "mutants"

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C."""

ENGINE: Final = ("proxy/connection", "proxy/faults", "proxy/matching", "proxy/rules")
"""Parts that playbooks test together: a rule is matched and its fault is carried out on a connection."""

BESIDE_THE_ENGINE: Final = ("control", "network", "scenario", "topic_names", "toxiproxy", "workers")
"""Folders of tests/proxy whose tests start servers or look at other parts."""


def part_of(text: str) -> str:
    """Return a folder of Python code, relative to the package.

    Raises:
        argparse.ArgumentTypeError: The package has no such folder.
    """
    part = text.rstrip("/").removeprefix("barnabas/")
    tops = [top for top in PACKAGE.iterdir() if top.is_dir()]
    files = [file.relative_to(PACKAGE) for top in tops for file in top.rglob("*.py")]
    parts = {str(folder) for file in files for folder in file.parents} - {"."}
    if part not in parts:
        # not earlier: pytest rewrites the plugin in barnabas only if nobody has imported barnabas
        from barnabas.nearest import did_you_mean

        raise argparse.ArgumentTypeError(
            f"no folder of the package with code: {text}{did_you_mean(part, sorted(parts))}"
        )
    return part


def at_least_one(text: str) -> int:
    """Return a count. Raises argparse.ArgumentTypeError if it is less than 1."""
    if (count := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{count} is less than 1")
    return count


def drawn(part: str, seed: int, count: int) -> list[Mutant]:
    """Return mutants of a part, drawn by a seed: the same ones for the same sources."""
    found: list[Mutant] = []
    for path in sorted((PACKAGE / part).rglob("*.py")):
        found += mutants(str(path.relative_to(ROOT)), path.read_text())
    chosen = random.Random(seed).sample(found, min(count, len(found)))
    return sorted(chosen, key=lambda each: (each.file, each.begin, each.after))


def mirror(part: str) -> list[str]:
    """Return pytest's arguments for the tests of a part: those of its folder, or of the nearest one above."""
    if part in ENGINE:
        proxy = ROOT / "tests/proxy"
        return [str(proxy), *(f"--ignore={proxy / name}" for name in BESIDE_THE_ENGINE)]
    folder = ROOT / "tests" / (part if (ROOT / part).is_dir() else f"barnabas/{part}")
    while not folder.is_dir():
        folder = folder.parent
    return [str(folder)]


def within(tests: Sequence[Timed], seconds: float) -> list[Timed]:
    """Return the first tests that take so many seconds together; at least one, if there is any."""
    so_far = accumulate(test.seconds for test in tests)
    return [test for test, end in zip(tests, so_far, strict=True) if end <= seconds] or [*tests[:1]]


def main() -> int:
    """Run the mutants of a part that have no result yet, and print the report."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", usage="%(prog)s part [options]"
    )
    parser.add_argument("part", type=part_of, help="a folder of the package, e.g. proxy/connection")
    parser.add_argument("--tests", help="the folder of tests; else the one that mirrors the part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=at_least_one, default=300)
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of tests for a mutant, the quickest first"
    )
    parser.add_argument("--jobs", type=at_least_one, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="forget the results of earlier runs")
    parser.add_argument(
        "--retry", action="store_true", help="run again the mutants that survived earlier runs"
    )
    asked = parser.parse_args()
    name = f"{asked.part}-by-{asked.tests}" if asked.tests else asked.part
    file = RESULTS / f"{name.replace('/', '-')}-{asked.seed}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    if asked.again:
        file.unlink(missing_ok=True)
    chosen = drawn(asked.part, asked.seed, asked.count)
    sources = {mutant.file: (ROOT / mutant.file).read_text() for mutant in chosen}
    names = {(mutant.name, mutant.begin): mutant for mutant in chosen}
    rows = [one for one in rows_of(file) if one["result"] in KILLED or not asked.retry]
    file.write_text("".join(json.dumps(one) + "\n" for one in rows))
    kept = [one for one in rows if (one["name"], one["begin"]) in names]
    known = {(one["name"], one["begin"]) for one in kept}
    left = [mutant for key, mutant in names.items() if key not in known]
    print(f"seed {asked.seed}: {len(chosen)} mutants, {len(known)} with a result", flush=True)

    def work(calling: dict[tuple[str, str], list[Timed]], session: Session) -> None:
        jobs = [
            Job(
                one,
                sources[one.file],
                within(calling.get((str(ROOT / one.file), one.function), ()), asked.seconds),
            )
            for one in left
        ]
        for module in {one.file for one in left}:
            importlib.import_module(
                module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            )
        with file.open("a") as results:
            for number, outcome in enumerate(outcomes(jobs, session, ROOT, asked.jobs), 1):
                found: dict[str, Any] = row(outcome, sources[outcome.mutant.file])
                results.write(json.dumps(found) + "\n")
                results.flush()
                if sys.stderr.isatty():
                    print(f"\r{number}/{len(jobs)}", end="", file=sys.stderr, flush=True)
                elif number % 50 == 0:
                    print(f"{number}/{len(jobs)}", file=sys.stderr, flush=True)
                kept.append(found)

    if left:
        folders = [
            *([str(ROOT / asked.tests)] if asked.tests else mirror(asked.part)),
            str(PACKAGE / asked.part),
        ]
        options = [
            "-s",
            "-m",
            "not slow",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-o",
            "timeout=0",
        ]
        code = pytest.main(
            [*folders, *options, "--hypothesis-profile=mutants"],
            [Session(str(PACKAGE / asked.part), work)],
        )
        if code == pytest.ExitCode.INTERRUPTED:
            print("interrupted; the results are kept: the same command runs the rest")
            print("\n".join(report(asked.part, kept)))
            return INTERRUPTED
        if len(kept) < len(chosen):
            return int(code) or 3
    print("\n".join(report(asked.part, kept)))
    return 0


if __name__ == "__main__":
    os.chdir(Path(ROOT))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
