"""Exchanges of a capture as a sequence diagram in Mermaid's language, which Markdown readers draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, TypeVar

from barnabas.captures.kafka.exchange import Exchange


class Timed(Protocol):
    """An exchange that a diagram can show."""

    @property
    def ts(self) -> int:
        """Return the arrival of the request, in ns since the epoch."""

    @property
    def broker(self) -> int | None:
        """Return the node id of the broker."""

    @property
    def latency_ms(self) -> float | None:
        """Return the time from the request to the response; None: no response."""


E = TypeVar("E", bound=Timed)


class Step(NamedTuple):
    """An exchange in a diagram. begin, latency: ms; a latency of None: no response."""

    begin: float
    latency: float | None
    broker: int | None
    asks: str
    answers: str
    client: str = "client"
    reverse: bool = False
    """Whether the broker sends the request."""


def steps(exchanges: Iterable[Exchange]) -> list[Step]:
    """Return exchanges as steps, in the order of their requests; the first begins at 0 ms."""
    return [
        Step(
            *timed,
            f"{exchange.api} #{exchange.correlation_id}",
            f"{exchange.error or 'answer to'} #{exchange.correlation_id}",
        )
        for exchange, timed in timed_in_order(exchanges)
    ]


def timed_in_order(
    exchanges: Iterable[E],
) -> Iterator[tuple[E, tuple[float, float | None, int | None]]]:
    """Yield exchanges by the time of their requests, with begin and latency in ms, and the broker."""
    ordered = sorted(exchanges, key=lambda item: item.ts)
    for item in ordered:
        latency = None if item.latency_ms is None else round(item.latency_ms, 1)
        yield item, (round((item.ts - ordered[0].ts) / 1e6, 1), latency, item.broker)


def sequence(made: Iterable[Step]) -> str:
    """Draw requests and responses in order, with times in ms."""
    drawn_steps = [Step(*step) for step in made]
    clients = {
        name: _id(name, at) for at, name in enumerate(dict.fromkeys(o.client for o in drawn_steps))
    }
    events: list[tuple[float, str]] = []
    for drawn_step in drawn_steps:
        client, broker = (
            clients[drawn_step.client],
            "unknown" if drawn_step.broker is None else f"b{drawn_step.broker}",
        )
        asker, receiver = (broker, client) if drawn_step.reverse else (client, broker)
        events.append(
            (
                drawn_step.begin,
                f"{asker}->>{receiver}: {drawn_step.begin:.1f} ms: {drawn_step.asks}",
            )
        )
        if drawn_step.latency is not None:
            end = drawn_step.begin + drawn_step.latency
            events.append((end, f"{receiver}-->>{asker}: {end:.1f} ms: {drawn_step.answers}"))
    nodes = sorted(
        {drawn_step.broker for drawn_step in drawn_steps if drawn_step.broker is not None}
    )
    lines = [
        participant if participant == name else f"{participant} as {name}"
        for name, participant in clients.items()
    ]
    lines += [f"b{node} as broker {node}" for node in nodes]
    lines = [f"participant {line}" for line in lines]
    lines += [text for _, text in sorted(events, key=lambda event: event[0])]
    return "\n    ".join(["sequenceDiagram", *lines])


def _id(name: str, at: int) -> str:
    """Return a participant's name for Mermaid: a hyphen or a colon could be part of an arrow."""
    return name if name.isalpha() else f"c{at}"


class Arrow(NamedTuple):
    """A message in a diagram, at: ms."""

    at: float
    source: str
    target: str
    text: str


def crossing(arrows: Iterable[Arrow], participants: Iterable[str]) -> str:
    """Draw messages between participants by time; the last participant's messages are responses."""
    names = list(participants)
    lines = [f"participant {name}" for name in names]
    for drawn in sorted((Arrow(*each) for each in arrows), key=lambda arrow: arrow.at):
        line = "-->>" if drawn.source == names[-1] else "->>"
        lines.append(f"{drawn.source}{line}{drawn.target}: {drawn.at:.1f} ms: {drawn.text}")
    return "\n    ".join(["sequenceDiagram", *lines])
