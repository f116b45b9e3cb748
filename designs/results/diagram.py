"""Exchanges of a capture as a sequence diagram in Mermaid's language, which Markdown readers draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, TypeVar

from barnabas.captures.kafka.exchange import Exchange


class Timed(Protocol):
    """An exchange that a diagram can show."""

    @property
    def ts(self) -> int:
        """The time at which the request arrived, in ns since the epoch."""

    @property
    def broker(self) -> int | None:
        """The node id of the broker."""

    @property
    def latency_ms(self) -> float | None:
        """The time from the request to the response; None: no response."""


E = TypeVar("E", bound=Timed)


class Step(NamedTuple):
    """An exchange in a diagram. begin, latency: ms; a latency of None: no answer."""

    begin: float
    latency: float | None
    broker: int | None
    asks: str
    answers: str
    client: str = "client"
    reverse: bool = False
    """Whether the broker asks."""


def steps(exchanges: Iterable[Exchange]) -> list[Step]:
    """Return exchanges as steps, in the order of their requests; the first begins at 0 ms."""
    return [
        Step(
            *timed,
            f"{one.api} #{one.correlation_id}",
            f"{one.error or 'answer to'} #{one.correlation_id}",
        )
        for one, timed in timed_in_order(exchanges)
    ]


def timed_in_order(
    exchanges: Iterable[E],
) -> Iterator[tuple[E, tuple[float, float | None, int | None]]]:
    """Yield exchanges by the time of their requests, with begin and latency in ms, and the broker."""
    found = sorted(exchanges, key=lambda one: one.ts)
    for one in found:
        latency = None if one.latency_ms is None else round(one.latency_ms, 1)
        yield one, (round((one.ts - found[0].ts) / 1e6, 1), latency, one.broker)


def sequence(made: Iterable[Step]) -> str:
    """Draw requests and answers in the order in which they passed, with times in ms.

    >>> print(sequence([Step(0.0, 5.0, 2, "Produce #7", "answer to #7")]))
    sequenceDiagram
        participant client
        participant b2 as broker 2
        client->>b2: 0.0 ms: Produce #7
        b2-->>client: 5.0 ms: answer to #7
    """
    found = [Step(*step) for step in made]
    clients = {
        name: _id(name, at) for at, name in enumerate(dict.fromkeys(o.client for o in found))
    }
    events: list[tuple[float, str]] = []
    for one in found:
        client, broker = clients[one.client], "unknown" if one.broker is None else f"b{one.broker}"
        asker, asked = (broker, client) if one.reverse else (client, broker)
        events.append((one.begin, f"{asker}->>{asked}: {one.begin:.1f} ms: {one.asks}"))
        if one.latency is not None:
            end = one.begin + one.latency
            events.append((end, f"{asked}-->>{asker}: {end:.1f} ms: {one.answers}"))
    nodes = sorted({one.broker for one in found if one.broker is not None})
    lines = [known if known == name else f"{known} as {name}" for name, known in clients.items()]
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
    """Draw messages between participants by time; the last participant's messages are answers.

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
