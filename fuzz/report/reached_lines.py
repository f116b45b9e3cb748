"""The report on a target's lines, and on fields whose change had no result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from barnabas.fuzz.coverage.lines import Unit
from barnabas.fuzz.database.findings import Reached
from barnabas.fuzz.engine.stats import Cell, Field, unshown

PACKAGES: Final = ("package", "lines", "by valid messages", "by cases too", "parsers", "reached")
"""The columns of `packages`."""

NEVER: Final = ("package", "parsers that were never reached")
"""The columns of `never`."""

UNSEEN: Final = ("API", "field", "versions", "changes")
"""The columns of `unseen`."""

SHOWN: Final = 100
"""Rows of these that a report shows."""

Row = tuple[int | str, ...]


def packages(units: Mapping[Unit, Reached]) -> list[Row]:
    """Return the rows of all packages, and of each with reached lines or parsers; columns: PACKAGES."""
    by_package: dict[str, list[tuple[Unit, Reached]]] = {}
    for unit, reached in units.items():
        by_package.setdefault(unit.package, []).append((unit, reached))
    rows = [_row(name, some) for name, some in sorted(by_package.items())]
    package_rows = [row for row in rows if row[3] or row[4]]
    return [_row("all", units.items()), *package_rows] if package_rows else []


def _row(name: str, units: Iterable[tuple[Unit, Reached]]) -> Row:
    some = list(units)
    parsers = [reached for unit, reached in some if unit.parser]
    return (
        name,
        sum(reached.all.bit_count() for _, reached in some),
        sum(reached.before.bit_count() for _, reached in some),
        sum(reached.after.bit_count() for _, reached in some),
        len(parsers),
        sum(1 for reached in parsers if reached.after),
    )


def in_words(units: Mapping[Unit, Reached]) -> str:
    """Describe the lines of all packages in one line.

    >>> in_words({Unit("p", "f", False): Reached(7, 1, 3), Unit("p", "f.read", True): Reached(1, 0, 0)})
    'lines reached: 1 by valid messages, 2 by cases too, of 4; 0 of 1 parsers'
    """
    _, every, before, after, parsers, reached = _row("all", units.items())
    return (
        f"lines reached: {before:,} by valid messages, {after:,} by cases too, of {every:,}; "
        f"{reached} of {parsers} parsers"
    )


def never(units: Mapping[Unit, Reached]) -> list[Row]:
    """Return the parsers that no case reached, by package."""
    names: dict[str, list[str]] = {}
    for unit, reached in sorted(units.items()):
        if unit.parser and not reached.after:
            names.setdefault(unit.package, []).append(unit.name)
    return [(package, ", ".join(some)) for package, some in names.items()]


def unseen(coverage: Mapping[Cell, int], as_valid: Mapping[Cell, int]) -> list[Row]:
    """Return the fields for which no case showed anything but features of its valid message.

    The most tried come first.
    """
    if not as_valid:
        return []
    gaps: dict[tuple[str, str], dict[int, int]] = {}
    for (api, version, field), cases in unshown(coverage, as_valid).items():
        gaps.setdefault((api, field), {})[version] = cases
    rows: list[Row] = [
        (api, field or "(frame)", ranges(versions), sum(versions.values()))
        for (api, field), versions in sorted(gaps.items())
    ]
    return sorted(rows, key=lambda row: -int(row[3]))


def shown(
    coverage: Mapping[Cell, int], as_valid: Mapping[Cell, int], fields_with_energy: Set[Field]
) -> tuple[tuple[str, str], ...]:
    """Return (name, value) of how many fields cases had a result for.

    fields_with_energy: fields that got more cases because none had a result.
    """
    if not as_valid:
        return ()
    every = {cell.place for cell in coverage}
    missing = unshown(coverage, as_valid).keys()
    rows: list[tuple[str, Set[Field], Set[Field]]]
    rows = [("fields (by version) whose change had an effect", every - missing, every)]
    if fields_with_energy:
        rows.append(
            (
                "of those, fields with more cases because they had none",
                fields_with_energy - missing,
                fields_with_energy,
            )
        )
    return tuple((name, f"{len(some):,} of {len(whole):,}") for name, some, whole in rows)


def ranges(versions: Iterable[int]) -> str:
    """Return versions as ranges.

    >>> ranges([9, 1, 2, 3])
    '1-3, 9'
    """
    stretches: list[list[int]] = []
    for version in sorted(versions):
        if stretches and version == stretches[-1][1] + 1:
            stretches[-1][1] = version
        else:
            stretches.append([version, version])
    return ", ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in stretches)
