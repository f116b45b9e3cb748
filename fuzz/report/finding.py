"""One finding as text: what it came of, what was sent, what was expected and what came."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from barnabas.captures.kafka.wording import printable
from barnabas.fuzz.cases.observation import EARLIER, UNDER_WAY
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.database.findings import Finding
from barnabas.fuzz.engine.making import cook
from barnabas.fuzz.observations.crashes import how
from barnabas.fuzz.oracles.oracle import whose
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.report.hex_dump import dump
from barnabas.fuzz.report.message import Place, place, tree
from barnabas.fuzz.report.title import title
from barnabas.plural import plural

WIDTH: Final = 400
"""Characters of a line that are shown: what is logged may have a whole message in it."""

BEFORE: Final = "sent before it was shrunk"

NOT_SMALLER: Final = "not made smaller"
GOES_ON: Final = "the same `barnabas fuzz run` goes on with it, if without `--shrink 0`"
"""Of what shrinking had no time for."""

LINES: Final = 40
"""Of a log entry or a stack trace."""

NOT_SHOWN: Final = frozenset(
    ("bases", "dialect", EARLIER, "frames", "later", "port", "records", "stack", UNDER_WAY, "where")
)
"""Facts that targets and oracles need and no reader does; nor does one need those that are true or empty."""


def command(finding: Finding, database: Path | str) -> str:
    """What runs it again."""
    return shlex.join(["barnabas", "fuzz", "replay", finding.name, "--db", str(database)])


def text(finding: Finding, database: Path | str, stands: Finding | None = None) -> str:
    """All of it. stands: the one of its cause that is made smaller in the place of all."""
    return "\n".join(_lines(finding, database, stands))


def _lines(finding: Finding, database: Path | str, stands: Finding | None) -> Iterator[str]:
    yield _clipped(f"{finding.name}  {finding.oracle}: {printable(title(finding))}")
    if finding.oracle in ORACLES_BY_NAME:
        yield f"  expected: {ORACLES_BY_NAME[finding.oracle].expects}"
    yield _clipped(f"  came: {printable(finding.what)}")
    first = whose(finding.oracle, finding.observation)
    yield f"  found by {plural(finding.cases, 'case')}, first by {first}"
    yield _clipped(f"  behaviour: {printable(', '.join(filter(None, finding.behaviour)))}")
    yield _clipped(f"  mutation: {made_of(finding.recipe)}")
    yield f"    seed: {finding.recipe.seed.origin}"
    if finding.smaller not in (None, finding.recipe):
        yield _clipped(f"  shrunk: {made_of(finding.best)}")
    elif finding.to_shrink and stands is not None and stands.name != finding.name:
        yield f"  {NOT_SMALLER}: {stands.name}, of the same cause, stands for it"
    elif finding.to_shrink:
        yield f"  {NOT_SMALLER} yet: {GOES_ON}"
    yield f"  replay: {command(finding, database)}"
    yield "  message, valid but for what is marked:"
    chunks, what = _chunks(finding)
    whole = chunks[0] if len(chunks) == 1 and what != BEFORE else None
    yield from (f"    {line}" for line in tree(finding.best, whole))
    yield from _dump(what, chunks, None if whole is None else place(finding.best, whole))
    if not finding.seen_smaller:
        yield f"  what came is of {first}, before it was shrunk"
    yield from _seen(finding)


def _chunks(finding: Finding) -> tuple[tuple[bytes, ...], str]:
    """What was sent, and that in words; of what was shrunk what would be, as far as no session is asked."""
    seen = finding.observation
    if finding.seen_smaller:
        return seen.sent or seen.case.chunks, "sent"
    try:
        return cook(finding.best, finding.first_case).chunks, "sent if it is replayed"
    except LookupError:  # made by another version
        return seen.sent or seen.case.chunks, BEFORE


def _seen(finding: Finding) -> Iterator[str]:
    """What came."""
    seen = finding.observation
    if seen.death is not None:
        yield f"  died: {how(seen.death.exit_code)}, after {seen.took_ms:.1f} ms"
        yield from _cut(seen.death.last_words, "    ")
    else:
        yield f"  connection: {seen.ending}, after {seen.took_ms:.1f} ms"
        if seen.probe is not None:
            probe = seen.probe
            said = f"answered in {probe.took_ms:.1f} ms" if probe.answered else "not answered"
            said = ": ".join(filter(None, (said, printable(probe.problem))))
            yield _clipped(f"  probe: {said}")
    for name, value in seen.facts:
        if name not in NOT_SHOWN and value and value is not True:
            yield _clipped(f"  {name}: {printable(str(value))}")
    under_way = dict(seen.facts).get(UNDER_WAY)
    if isinstance(under_way, list):
        yield "  under way, one of these:"
        yield from (_clipped(f"    {printable(str(one))}") for one in under_way)
    yield from _dump("received", seen.replies, None)
    if seen.raised:
        yield "  raised:"
        yield from _cut(seen.raised, "    ")
    if seen.log:
        yield "  log:"
        for entry in seen.log:
            yield from _cut(entry, "    ")


def _cut(entry: str, indent: str) -> Iterator[str]:
    lines = entry.splitlines()
    yield from (_clipped(indent + printable(line.replace("\t", "  "))) for line in lines[:LINES])
    if len(lines) > LINES:
        yield f"{indent}... {plural(len(lines) - LINES, 'more line')}"


def _clipped(line: str) -> str:
    if len(line) <= WIDTH:
        return line
    return f"{line[:WIDTH]}... {plural(len(line) - WIDTH, 'more character')}"


def _dump(what: str, chunks: tuple[bytes, ...], marked: Place | None) -> Iterator[str]:
    for chunk in chunks:
        yield f"  {what}, {plural(len(chunk), 'byte')}:"
        yield from (f"    {line}" for line in dump(chunk, marked))
