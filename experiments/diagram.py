"""Exchanges of a capture as a sequence diagram in Mermaid's language, which Markdown readers draw."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from captures.exchange import Exchange


class Step(NamedTuple):
    """An exchange in a diagram. begin, latency: ms; a latency of None: no answer."""

    begin: float
    latency: float | None
    broker: int | None
    asks: str
    answers: str


def steps(exchanges: Iterable[Exchange]) -> list[Step]:
    """The exchanges as steps, in the order of their requests; the first begins at 0 ms."""
    found = sorted(exchanges, key=lambda one: one.ts)
    start = found[0].ts if found else 0
    return [
        Step(
            round((one.ts - start) / 1e6, 1),
            None if one.latency_ms is None else round(one.latency_ms, 1),
            one.broker,
            f"{one.api} #{one.correlation_id}",
            f"{one.error or 'answer to'} #{one.correlation_id}",
        )
        for one in found
    ]


def sequence(made: Iterable[Step]) -> str:
    """Requests and answers in the order in which they passed, with times in ms.

    >>> print(sequence([Step(0.0, 5.0, 2, "Produce #7", "answer to #7")]))
    sequenceDiagram
        participant client
        participant b2 as broker 2
        client->>b2: 0.0 ms: Produce #7
        b2-->>client: 5.0 ms: answer to #7
    """
    found = [Step(*step) for step in made]
    events: list[tuple[float, str]] = []
    for one in found:
        broker = "unknown" if one.broker is None else f"b{one.broker}"
        events.append((one.begin, f"client->>{broker}: {one.begin:.1f} ms: {one.asks}"))
        if one.latency is not None:
            end = one.begin + one.latency
            events.append((end, f"{broker}-->>client: {end:.1f} ms: {one.answers}"))
    nodes = sorted({one.broker for one in found if one.broker is not None})
    lines = ["client", *(f"b{node} as broker {node}" for node in nodes)]
    lines = [f"participant {line}" for line in lines]
    lines += [text for _, text in sorted(events, key=lambda event: event[0])]
    return "\n    ".join(["sequenceDiagram", *lines])


class Arrow(NamedTuple):
    """A message in a diagram, at: ms."""

    at: float
    source: str
    target: str
    text: str


def crossing(arrows: Iterable[Arrow], participants: Iterable[str]) -> str:
    """Messages between any participants, in the order of their times; answers are what the last one sends.

    >>> print(crossing([Arrow(0.0, "m", "broker", "JoinGroup #7")], ["m", "broker"]))
    sequenceDiagram
        participant m
        participant broker
        m->>broker: 0.0 ms: JoinGroup #7
    """
    names = list(participants)
    lines = [f"participant {name}" for name in names]
    for one in sorted((Arrow(*each) for each in arrows), key=lambda arrow: arrow.at):
        line = "-->>" if one.source == names[-1] else "->>"
        lines.append(f"{one.source}{line}{one.target}: {one.at:.1f} ms: {one.text}")
    return "\n    ".join(["sequenceDiagram", *lines])
