"""The stages of the pipeline without Spark: the shuffle is a sort in memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barnabas.captures.kafka.client_software import software_of
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event
from barnabas.captures.tls.keylog import KeyLog
from barnabas.pipeline.reading.facts import Completion, Facts, gather
from barnabas.pipeline.reading.file_bytes import MappedFiles
from barnabas.pipeline.reading.flows import FlowSettings, outcomes
from barnabas.pipeline.reading.outcomes import ALL, HEAD, Outcome, travelling
from barnabas.pipeline.reading.plan import Plan, plan
from barnabas.pipeline.reading.ranges import ranges, sorted_paths
from barnabas.pipeline.reading.runs import unpack
from barnabas.pipeline.reading.survey import survey
from barnabas.pipeline.reading.tcp_segments import segments
from barnabas.pipeline.rows.columns import EXCHANGES, RAW
from barnabas.pipeline.rows.exchanges import batch, row

ROW = (*EXCHANGES, *RAW)
NAMES = tuple(column.name for column in ROW)


@dataclass
class Done:
    """What came out: rows of exchanges in the order of the pure reader, and all else."""

    exchanges: list[dict[str, Any]]
    said: list[Outcome]
    facts: Facts
    plan: Plan


def planned(paths: Sequence[Path], size: int) -> Plan:
    return plan(ranges(sorted_paths(paths), size), lambda found: [survey(one) for one in found])


def in_memory(
    paths: Sequence[Path],
    size: int = 1 << 26,
    *,
    carry: bool = False,
    order: Callable[[list[Any]], list[Any]] = list,
    columns: tuple[str, ...] = NAMES,
    frames: bool = False,
) -> Done:
    """All stages; `order` is that in which pieces are read; frames: there is an outcome of each."""
    made = planned(paths, size)
    rows = [
        one
        for piece in order(list(made.pieces))
        for results in segments(piece, made.links, carry=carry)
        for one in results.to_pylist()
    ]
    rows.sort(key=lambda one: (one["flow"], one["first"]))
    expected = tuple(column.name for column in travelling(columns))
    reading = FlowSettings(expected, made.section_groups, made.packets, tuple(made.secrets), frames)
    keys = KeyLog()
    for text in reading.secrets:
        keys.add(text)
    files = MappedFiles()
    results: list[Outcome] = []
    for _, group in itertools.groupby(rows, key=lambda one: one["flow"]):
        flow = (
            unpack(one["section_group"], one["ends"], one["path"], one["data"], one["segments"])
            for one in group
        )
        results += outcomes(flow, reading, keys, files)
    lines = [one for one in results if one.columns is None]
    facts = gather(lines, made.section_groups)
    travelled = sorted(
        (one for one in results if one.columns is not None), key=lambda x: x.position
    )
    heads = [
        {
            "section_group": one.section_group,
            "connection_key": one.connection_key,
            **one.position._asdict(),
            **(one.columns or {}),
        }
        for one in travelled
    ]
    full = batch(heads, (*HEAD, *travelling(columns)))
    requested = tuple(column for column in ALL if column.name in columns)
    done = Completion(facts, "c").complete(full, requested).to_pylist()
    return Done(done, lines, facts, made)


def sequential(
    paths: Sequence[Path], columns: tuple[str, ...] = NAMES, capture: str = "c"
) -> list[dict[str, Any]]:
    """The same of the pure reader: once to learn the names of the capture, once for the rows."""
    learnt = Context()
    events = CaptureReader(*sorted_paths(paths))
    for exchange in Conversations(inferred=True).exchanges(events):
        learnt.learn(exchange)
    context = Context(topics=learnt.topics, producers=learnt.producers, brokers=learnt.brokers)
    now: list[int | None] = [None]

    def noted(events: CaptureReader) -> Iterator[Event]:
        for event in events:
            now[0] = event.ts_ns
            yield event
        now[0] = None

    results = []
    software: dict[int, str] = {}
    events = CaptureReader(*sorted_paths(paths))
    for exchange in Conversations(inferred=True).exchanges(noted(events)):
        context.learn(exchange)
        output = software_of(exchange)
        if output is not None:
            software.setdefault(exchange.connection, output)
        late = exchange.latency_ms is None and exchange.note != UNANSWERED
        made = row(
            exchange,
            context,
            capture=capture,
            software=software.get(exchange.connection),
            end_ns=now[0] if late else None,
            columns=columns,
        )
        results.append(made)
    kept = tuple(column for column in ROW if column.name in columns)
    rows: list[dict[str, Any]] = batch(results, kept).to_pylist()
    return rows
