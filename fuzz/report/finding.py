"""A finding as text: the cause, the message and its bytes, the expected and the observed reaction."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.captures.kafka.wording import printable
from barnabas.fuzz.cases.observation import EARLIER, UNDER_WAY
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.database.findings import Finding
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.observations.crashes import describe_exit
from barnabas.fuzz.oracles.oracle import case_label
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.report.message import MarkedBytes, place, tree
from barnabas.fuzz.report.title import title
from barnabas.plural import plural

WIDTH: Final = 400
"""Characters of a line that are shown: a log line may have a whole message in it."""

BEFORE: Final = "sent before shrinking"

NOT_SMALLER: Final = "not made smaller"
GOES_ON: Final = "repeat `barnabas fuzz run`, not with `--shrink 0`"
"""Follows what shrinking had no time for."""

NOT_CONFIRMED: Final = "not confirmed yet with no other session running: repeat `barnabas fuzz run`"

REPLAY: Final = "replay"

LINES: Final = 40
"""Lines of a log entry or a stack trace that are shown."""

NOT_SHOWN: Final = frozenset(
    ("bases", "dialect", EARLIER, "frames", "later", "port", "records", "stack", UNDER_WAY, "where")
)
"""Facts for targets and oracles only; facts that are True or empty are not shown either."""


def command(finding: Finding, database: Path | str) -> str:
    """Return the command that runs a finding again."""
    return shlex.join(["barnabas", "fuzz", "replay", finding.name, "--db", str(database)])


class Entry(NamedTuple):
    """A fact about a finding, which may have a block of lines."""

    name: str
    value: str = ""
    lines: tuple[str, ...] = ()
    marked: bool = False
    """The lines mark what was changed: fields by `>`, bytes by a row of `^^`."""

    def __str__(self) -> str:
        """Return its first line."""
        if self.value:
            return f"{self.name}: {self.value}"
        return f"{self.name}:" if self.lines else self.name


def text(finding: Finding, database: Path | str, representative: Finding | None = None) -> str:
    """Return a finding as text.

    representative: the finding of the same cause that is shrunk on behalf of all.
    """
    lines = [_clipped(f"{finding.name}  {finding.oracle}: {printable(title(finding))}")]
    for entry in entries(finding, database, representative):
        lines += [f"  {entry}", *(f"    {line}" for line in entry.lines)]
    return "\n".join(lines)


def entries(
    finding: Finding, database: Path | str, representative: Finding | None = None
) -> Iterator[Entry]:
    """Yield what is known about a finding: what was sent, expected and seen."""
    if finding.oracle in ORACLES_BY_NAME:
        yield Entry("expected", ORACLES_BY_NAME[finding.oracle].expects)
    yield Entry("came", _clipped(printable(finding.what)))
    first = case_label(finding.oracle, finding.observation)
    yield Entry("found by", f"{plural(finding.cases, 'case')}, first by {first}")
    yield Entry("behaviour", _clipped(printable(", ".join(filter(None, finding.behaviour)))))
    yield Entry("mutation", _clipped(made_of(finding.recipe)))
    yield Entry("seed", finding.recipe.seed.origin)
    if finding.smaller not in (None, finding.recipe):
        yield Entry("shrunk", _clipped(made_of(finding.best)))
    elif finding.to_shrink and representative is not None and representative.name != finding.name:
        yield Entry(
            NOT_SMALLER, f"{representative.name}, of the same root cause, is shrunk instead"
        )
    elif finding.to_shrink:
        yield Entry(f"{NOT_SMALLER} yet", GOES_ON)
    if finding.to_confirm:
        yield Entry(NOT_CONFIRMED)
    yield Entry(REPLAY, command(finding, database))
    chunks, heading = _chunks(finding)
    whole = chunks[0] if len(chunks) == 1 and heading != BEFORE else None
    valid = "message, valid except for the marked parts"
    yield Entry(valid, "", tuple(tree(finding.best, whole)), marked=True)
    yield from _dump(heading, chunks, None if whole is None else place(finding.best, whole))
    if not finding.seen_smaller:
        yield Entry(f"the response is that of {first}, before shrinking")
    yield from _seen(finding)


def _chunks(finding: Finding) -> tuple[tuple[bytes, ...], str]:
    """Return what was sent and a heading; for a shrunk finding, what would be sent without a session."""
    observation = finding.observation
    if finding.seen_smaller:
        return observation.sent or observation.case.chunks, "sent"
    try:
        return cook(finding.best, finding.first_case).chunks, "sent if it is replayed"
    except LookupError:  # another version of barnabas made the recipe
        return observation.sent or observation.case.chunks, BEFORE


def _seen(finding: Finding) -> Iterator[Entry]:
    """Yield what the target did."""
    observation = finding.observation
    after = f"after {observation.took_ms:.1f} ms"
    if observation.death is not None:
        died = f"{describe_exit(observation.death.exit_code)}, {after}"
        yield Entry("died", died, tuple(_cut(observation.death.last_words)))
    else:
        yield Entry("connection", f"{observation.ending}, {after}")
        if observation.probe is not None:
            probe = observation.probe
            probe_text = f"answered in {probe.took_ms:.1f} ms" if probe.answered else "not answered"
            probe_text = ": ".join(filter(None, (probe_text, printable(probe.problem))))
            yield Entry("probe", _clipped(probe_text))
    for name, value in observation.facts:
        if name not in NOT_SHOWN and value and value is not True:
            yield Entry(name, _clipped(printable(str(value))))
    under_way = dict(observation.facts).get(UNDER_WAY)
    if isinstance(under_way, list):
        lines = (_clipped(printable(str(description))) for description in under_way)
        yield Entry("under way, one of these", "", tuple(lines))
    yield from _dump("received", observation.replies, None)
    if observation.raised:
        yield Entry("raised", "", tuple(_cut(observation.raised)))
    if observation.log:
        yield Entry("log", "", tuple(line for entry in observation.log for line in _cut(entry)))


def _cut(entry: str) -> Iterator[str]:
    lines = entry.splitlines()
    yield from (_clipped(printable(line.replace("\t", "  "))) for line in lines[:LINES])
    if len(lines) > LINES:
        yield f"... {plural(len(lines) - LINES, 'more line')}"


def _clipped(line: str) -> str:
    if len(line) <= WIDTH:
        return line
    return f"{line[:WIDTH]}... {plural(len(line) - WIDTH, 'more character')}"


def _dump(heading: str, chunks: tuple[bytes, ...], span: MarkedBytes | None) -> Iterator[Entry]:
    for chunk in chunks:
        lines = tuple(dump(chunk, span))
        yield Entry(f"{heading}, {plural(len(chunk), 'byte')}", "", lines, span is not None)


ROW: Final = 16

BYTES: Final = 512
"""Bytes of a chunk that are shown."""

HEAD: Final = 64
"""Bytes from the beginning that are shown if the marked ones are far behind."""


def dump(chunk: bytes, span: MarkedBytes | None = None) -> Iterator[str]:
    r"""Yield the rows of a chunk; of a long one those around the marked bytes, and how many are left out.

    >>> print("\n".join(dump(b"abc\0", MarkedBytes(1, 3))))
    0000  61 62 63 00                                      abc.
             ^^ ^^
    """
    first = 0 if span is None or span.start < BYTES - 2 * ROW else span.start - BYTES // 2
    first -= first % ROW
    if first:
        yield from _rows(chunk, 0, HEAD, None)
        yield f"... {plural(first - HEAD, 'byte')}"
    end = first + BYTES - (HEAD if first else 0)
    yield from _rows(chunk, first, end, span)
    if end < len(chunk):
        yield f"... {plural(len(chunk) - end, 'more byte')}"


def _rows(chunk: bytes, start: int, end: int, span: MarkedBytes | None) -> Iterator[str]:
    for at in range(start, min(end, len(chunk)), ROW):
        row = chunk[at : at + ROW]
        printable_text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield f"{at:04x}  {row.hex(' '):<47}  {printable_text}"
        if span is not None:
            # an empty span, or one after the end, is shown where it would be
            last = max(span.end, span.start + 1)
            marks = [
                "^^" if span.start <= offset < last else "  " for offset in range(at, at + ROW)
            ]
            if span.start == len(chunk) == at + ROW:
                marks.append("^^")
            line = f"      {' '.join(marks)}".rstrip()
            if line:
                yield line
