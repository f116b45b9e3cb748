"""Recorded exchanges that are sent to a cluster again, for tests that `barnabas convert` writes.

Such a test has the exchanges of a capture, and asserts that the responses are the same. Unlike its neighbours
this module imports the rest of barnabas, when it sends the first request.
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
"""A body in the JSON form of the logs, or its bytes if that form loses information."""

BEGIN: Final = 1_000_000_000_000_000_000
"""The time of the first request, in ns since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A recorded request and its response. Times are in ms since the first request."""

    api: str
    version: int
    request: Body
    response: Body = None
    """None: there was no response, and nothing is compared."""
    client_id: str | None = None
    connection: int = 1
    """Exchanges with the same number used the same connection."""
    broker: int | None = None
    """Node id of the broker that got the request; None: unknown."""
    asked: float = 0.0
    answered: float | None = None

    @property
    def name(self) -> str:
        """Return the API, the version and the client."""
        return f"{self.api} v{self.version} of {self.client_id or 'a client without an id'}"


def ask_again(
    seen: Sequence[Seen], bootstrap_server: str, not_compared: Iterable[str] = ()
) -> list[str]:
    """Send the requests to a cluster in the recorded order; return a line for each difference.

    A request waits until all responses that preceded it in the recording have arrived. It goes to the current
    leader or coordinator of what it names, with the ids that this cluster has assigned. A missing topic is
    created if the cluster creates topics automatically. Produce requests write their records again.

    Args:
        seen: The exchanges.
        bootstrap_server: The cluster, HOST:PORT[,...].
        not_compared: Fields to ignore, as for `barnabas diff --ignore`.

    Raises:
        ConnectionError: The cluster is unreachable.
        ValueError: A body can't be encoded.
    """
    from barnabas.loop import run

    return run(_replayed(seen, bootstrap_server, tuple(not_compared)))


def encoded(body: Body, api: str, version: int, direction: Direction) -> bytes | None:
    r"""Encode a body. Raises ValueError, LookupError.

    >>> encoded({"topics": None}, "Metadata", 1, "request")
    b'\xff\xff\xff\xff'
    """
    from barnabas.specs.jsonform import body_from_json
    from barnabas.specs.registry import codec_of, key_of

    if not isinstance(body, dict):
        return body
    codec = codec_of(key_of(api), version, direction)
    return codec.encode(body_from_json(body, codec.layout))


async def _replayed(recorded: Sequence[Seen], bootstrap: str, ignore: tuple[str, ...]) -> list[str]:
    from barnabas.captures.host_port import endpoint_of
    from barnabas.peers.replay.cluster import LiveCluster
    from barnabas.peers.replay.connection import LiveConnection
    from barnabas.peers.replay.order import in_order, index
    from barnabas.peers.replay.player import Player, PlayerOptions

    exchanges = list(map(_exchange, recorded))
    indexes = {id(exchange): position for position, exchange in enumerate(exchanges)}
    outcomes: dict[int, Outcome] = {}

    async def dial(address: Address) -> LiveConnection:
        return await LiveConnection.open(address)

    def done(outcome: Outcome) -> None:
        outcomes[indexes[id(outcome.exchange)]] = outcome

    cluster = LiveCluster(map(endpoint_of, bootstrap.split(",")), dial)
    await cluster.start()
    try:
        recording = index(exchanges)
        lacking = set(recording.needed.partitions(recording.topics)) - set(
            await cluster.partitions()
        )
        if lacking:
            await cluster.make(sorted(lacking))
        player = Player(cluster, recording, done, PlayerOptions(speed=0, ignore=ignore))
        await player.play(in_order(exchanges, recording.order))
    finally:
        await cluster.stop()
    return [
        line
        for position, each in sorted(outcomes.items())
        for line in _lines(recorded[position], each)
    ]


def _exchange(recorded: Seen) -> Exchange:
    from barnabas.captures.kafka.exchange import Exchange
    from barnabas.specs.registry import key_of

    request = encoded(recorded.request, recorded.api, recorded.version, "request") or b""
    response = encoded(recorded.response, recorded.api, recorded.version, "response")
    return Exchange(
        ts=BEGIN + round(recorded.asked * 1e6),
        connection=recorded.connection,
        client_address="",
        client_id=recorded.client_id,
        broker=recorded.broker,
        key=key_of(recorded.api),
        version=recorded.version,
        correlation_id=0,
        request_size=len(request),
        response_size=None if response is None else len(response),
        latency_ms=None if response is None else max((recorded.answered or 0) - recorded.asked, 0),
        request_body=request,
        response_body=response,
    )


def _lines(recorded: Seen, outcome: Outcome) -> Iterator[str]:
    """Yield the differences of an outcome, each as recorded value ≠ current value.

    New values, such as further partitions of a topic, are ignored.
    """
    from barnabas.captures.diff.bodies import ABSENT

    if outcome.omission is not None:
        yield f"{recorded.name}: not asked: {outcome.omission.reason}"
    if outcome.problem:
        yield f"{recorded.name}: {outcome.problem}"
    for difference in outcome.differences:
        if difference.left is not ABSENT:
            yield f"{recorded.name}: {difference}"
