"""One finding as text: what it came of, what was sent, what was received, what the log says."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from barnabas.captures.kafka.wording import printable
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.database.findings import Finding
from barnabas.fuzz.oracles.oracle import whose
from barnabas.plural import plural

BYTES: Final = 512
"""Of a chunk that are shown."""

LINES: Final = 40
"""Of a log entry or a stack trace."""


def command(finding: Finding, database: Path | str) -> str:
    """What runs it again."""
    return shlex.join(["barnabas", "fuzz", "replay", finding.name, "--db", str(database)])


def text(finding: Finding, database: Path | str) -> str:
    """All of it."""
    return "\n".join(_lines(finding, database))


def _lines(finding: Finding, database: Path | str) -> Iterator[str]:
    seen = finding.observation
    yield f"{finding.name}  {finding.oracle}: {printable(finding.what)}"
    yield f"  found by {plural(finding.cases, 'case')}, first by {whose(finding.oracle, seen)}"
    yield f"  behaviour: {printable(', '.join(filter(None, finding.behaviour)))}"
    yield f"  mutation: {made_of(finding.recipe)}"
    yield f"    seed: {finding.recipe.seed.origin}"
    if finding.smaller not in (None, finding.recipe):
        yield f"  shrunk: {made_of(finding.best)}"
    yield f"  replay: {command(finding, database)}"
    yield f"  connection: {seen.ending}, after {seen.took_ms:.1f} ms"
    if seen.probe is not None:
        said = f"answered in {seen.probe.took_ms:.1f} ms" if seen.probe.answered else "not answered"
        yield f"  probe: {said} {printable(seen.probe.problem)}".rstrip()
    if seen.death is not None:
        yield f"  died: {seen.death.exit_code}"
        yield from _cut(seen.death.last_words, "    ")
    for name, value in seen.facts:
        yield f"  {name}: {printable(str(value))[:BYTES]}"
    for what, chunks in (("sent", seen.sent or seen.case.chunks), ("received", seen.replies)):
        yield from _dump(what, chunks)
    if seen.raised:
        yield "  raised:"
        yield from _cut(seen.raised, "    ")
    if seen.log:
        yield "  log:"
        for entry in seen.log:
            yield from _cut(entry, "    ")


def _cut(entry: str, indent: str) -> Iterator[str]:
    lines = entry.splitlines()
    yield from (indent + printable(line.replace("\t", "  ")) for line in lines[:LINES])
    if len(lines) > LINES:
        yield f"{indent}... {plural(len(lines) - LINES, 'more line')}"


def _dump(what: str, chunks: Sequence[bytes]) -> Iterator[str]:
    for chunk in chunks:
        yield f"  {what}, {plural(len(chunk), 'byte')}:"
        for at in range(0, min(len(chunk), BYTES), 16):
            row = chunk[at : at + 16]
            shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
            yield f"    {at:04x}  {row.hex(' '):<47}  {shown}"
        if len(chunk) > BYTES:
            yield f"    ... {plural(len(chunk) - BYTES, 'more byte')}"
