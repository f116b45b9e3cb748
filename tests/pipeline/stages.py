"""The stages of the pipeline without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barnabas.captures.kafka.client_software import software_of
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event
from barnabas.captures.tcp.share import Share
from barnabas.pipeline.reading.facts import Completion, Facts, gather
from barnabas.pipeline.reading.outcomes import ALL, HEAD, Outcome, travelling
from barnabas.pipeline.reading.paths import sorted_paths
from barnabas.pipeline.reading.share_outcomes import CaptureSettings, outcomes
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


def in_memory(
    paths: Sequence[Path],
    readers: int = 1,
    *,
    columns: tuple[str, ...] = NAMES,
    frames: bool = False,
    secrets: Sequence[bytes] = (),
) -> Done:
    """All stages, with so many readers; frames: there is an outcome of each."""
    capture = CaptureSettings(sorted_paths(paths), columns, secrets, frames)
    results = [
        one for number in range(readers) for one in outcomes(capture, Share(number, readers))
    ]
    lines = [one for one in results if one.columns is None]
    facts = gather(lines)
    travelled = sorted(
        (one for one in results if one.columns is not None), key=lambda x: x.position
    )
    heads = [
        {
            "section": one.section,
            "connection_key": one.connection_key,
            **one.position._asdict(),
            **(one.columns or {}),
        }
        for one in travelled
    ]
    full = batch(heads, (*HEAD, *travelling(columns)))
    requested = tuple(column for column in ALL if column.name in columns)
    done = Completion(facts, "c").complete(full, requested).to_pylist()
    return Done(done, lines, facts)


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
