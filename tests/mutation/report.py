"""The results of a part: how many mutants the tests noticed, and those that none did."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import yaml

EQUIVALENT: Final = Path(__file__).parent / "equivalent.yaml"
"""Mutants that change nothing that anybody could notice, with the reason."""

KILLED: Final = ("killed", "timed out")


def row(outcome: Any, source: str) -> dict[str, Any]:
    """Return an outcome in JSON form."""
    mutant = outcome.mutant
    line = source.splitlines()[mutant.line - 1].strip()
    return {
        "file": mutant.file,
        "line": mutant.line,
        "function": mutant.function,
        "code": line,
        "before": mutant.before,
        "after": mutant.after,
        "name": mutant.name,
        "begin": mutant.begin,
        "result": outcome.result,
        "by": outcome.by,
    }


def rows_of(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of results, one for each mutant; none if it is not there.

    The last line may be cut off, where a run was killed, and two runs at a time write a mutant twice.
    """
    if not file.exists():
        return []
    rows = map(json.loads, file.read_text().split("\n")[:-1])
    return list({(one["name"], one["begin"]): one for one in rows}.values())


def reason(found: dict[str, Any]) -> str:
    """Return why a mutant is equivalent; empty: it is not."""
    known = yaml.safe_load(EQUIVALENT.read_text()) or []
    names = ("file", "function", "code", "before", "after")
    for one in known:
        if all(one[name] == found[name] for name in names):
            return str(one["reason"])
    return ""


def report(part: str, rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the report."""
    alive: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    for one in rows:
        result = one["result"]
        if result not in KILLED:
            if reason(one):
                result = "equivalent"
            else:
                alive.append(one)
        counts[result] += 1
    caught, total = sum(counts[result] for result in KILLED), sum(counts.values())
    for one in sorted(alive, key=lambda each: (each["file"], each["line"])):
        yield f"{one['result']}: {one['file']}:{one['line']}: {one['before']} -> {one['after']}"
        yield f"    {one['code']}"
    share = 100 * caught / max(1, total - counts["equivalent"])
    said = ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))
    yield f"{part}: {total} mutants: {said}; {share:.1f} % noticed"
