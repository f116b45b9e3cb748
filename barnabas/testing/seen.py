"""What a cluster was asked and answered once, asked again: a file that `barnabas convert` writes as a test
has such exchanges, and asserts that the answers are what they were.

Unlike its neighbours this imports the rest of barnabas, once something is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from barnabas.captures.kafka.exchange import Exchange
    from barnabas.peers.replay.connection import Address, LiveConnection
    from barnabas.peers.replay.outcome import Outcome
    from barnabas.specs.frames import Direction

Body = dict[str, Any] | bytes | None
"""In the JSON form of the logs; its bytes where that form does not tell them."""

BEGIN: Final = 1_000_000_000_000_000_000
"""Stands for the time at which the first was asked, in ns since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request and the answer to it. Times are in ms since the first one was asked."""

    api: str
    version: int
    request: Body
    response: Body = None
    """None: there was none, and nothing is compared."""
    client_id: str | None = None
    connection: int = 1
    """Those with the same number went over the same connection."""
    broker: int | None = None
    """Node id of the broker that was asked, if that was known."""
    asked: float = 0.0
    answered: float | None = None

    @property
    def name(self) -> str:
        """In a line."""
        return f"{self.api} v{self.version} of {self.client_id or 'a client without an id'}"


def ask_again(
    seen: Sequence[Seen], bootstrap_server: str, not_compared: Iterable[str] = ()
) -> list[str]:
    """Ask a cluster the same, in the same order; what its answers differ in, a line each.

    Each is asked once all that had been answered before it is answered, of whoever leads or coordinates what
    it names now, with the ids that this cluster has given out. A topic that is not there is made, if
    the cluster makes topics that are asked for. It writes what was written.

    not_compared: fields, as of `barnabas diff --ignore`. Raises ConnectionError, ValueError.
    """
    from barnabas.loop import run

    return run(_asked(seen, bootstrap_server, tuple(not_compared)))


def encoded(body: Body, api: str, version: int, direction: Direction) -> bytes | None:
    """The bytes of a body. Raises ValueError, LookupError.

    >>> encoded({"topics": None}, "Metadata", 1, "request")
    b'\\xff\\xff\\xff\\xff'
    """
    from barnabas.specs.jsonform import body_from_json
    from barnabas.specs.registry import codec_of, key_of

    if not isinstance(body, dict):
        return body
    codec = codec_of(key_of(api), version, direction)
    return codec.encode(body_from_json(body, codec.layout))


async def _asked(seen: Sequence[Seen], bootstrap: str, ignore: tuple[str, ...]) -> list[str]:
    from barnabas.captures.host_port import endpoint_of
    from barnabas.peers.replay.cluster import LiveCluster
    from barnabas.peers.replay.connection import LiveConnection
    from barnabas.peers.replay.order import in_order, index
    from barnabas.peers.replay.player import Player, PlayerOptions

    exchanges = list(map(_exchange, seen))
    places = {id(exchange): place for place, exchange in enumerate(exchanges)}
    outcomes: dict[int, Outcome] = {}

    async def dial(address: Address) -> LiveConnection:
        return await LiveConnection.open(address)

    def done(outcome: Outcome) -> None:
        outcomes[places[id(outcome.exchange)]] = outcome

    cluster = LiveCluster(map(endpoint_of, bootstrap.split(",")), dial)
    await cluster.start()
    try:
        found = index(exchanges)
        lacking = set(found.needed.partitions(found.topics)) - set(await cluster.partitions())
        if lacking:
            await cluster.make(sorted(lacking))
        player = Player(cluster, found, done, PlayerOptions(speed=0, ignore=ignore))
        await player.play(in_order(exchanges, found.order))
    finally:
        await cluster.stop()
    return [line for place, each in sorted(outcomes.items()) for line in _lines(seen[place], each)]


def _exchange(seen: Seen) -> Exchange:
    from barnabas.captures.kafka.exchange import Exchange
    from barnabas.specs.registry import key_of

    request = encoded(seen.request, seen.api, seen.version, "request") or b""
    response = encoded(seen.response, seen.api, seen.version, "response")
    return Exchange(
        ts=BEGIN + round(seen.asked * 1e6),
        connection=seen.connection,
        client_address="",
        client_id=seen.client_id,
        broker=seen.broker,
        key=key_of(seen.api),
        version=seen.version,
        correlation_id=0,
        request_size=len(request),
        response_size=None if response is None else len(response),
        latency_ms=None if response is None else max((seen.answered or 0) - seen.asked, 0),
        request_body=request,
        response_body=response,
    )


def _lines(seen: Seen, outcome: Outcome) -> Iterator[str]:
    """What differs: as it was ≠ as it is. What was not there before is not compared, such as partitions of
    a topic that has more of them now."""
    from barnabas.captures.diff.bodies import ABSENT

    if outcome.omission is not None:
        yield f"{seen.name}: not asked: {outcome.omission.reason}"
    if outcome.problem:
        yield f"{seen.name}: {outcome.problem}"
    for difference in outcome.differences:
        if difference.left is not ABSENT:
            yield f"{seen.name}: {difference}"
