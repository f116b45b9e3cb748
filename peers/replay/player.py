"""The replay: a request is sent when all responses that precede it in the recording have arrived.

So cause and effect have the order of the recording at any speed, and so has pipelining. A request goes out on
the live connection that stands for its recorded connection and for the broker that it is now for.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.errors import first_error
from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay.cluster import LiveCluster
from barnabas.peers.replay.connection import LiveConnections
from barnabas.peers.replay.generations import REJOIN_AFTER, Member, RecordedMembers
from barnabas.peers.replay.order import Index
from barnabas.peers.replay.outcome import OF_THE_CLUSTER, Outcome, compare
from barnabas.peers.replay.plan import Omission, omission_of
from barnabas.peers.replay.routing import (
    OF_LEADERS,
    Coordinator,
    coordinator_of,
    leader_partitions,
    merge,
    split,
)
from barnabas.peers.replay.sessions import SESSION_ERRORS, FetchSessions
from barnabas.peers.replay.translation import Translation
from barnabas.peers.replay.versions import NotReplayable
from barnabas.specs.codec.careful_encoder import Unfit
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import FETCH, JOIN_GROUP, PRODUCE, SYNC_GROUP
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

PATIENCE: Final = 60.0
"""Timeout in seconds of a response that the recording has."""

RETRIABLE: Final = frozenset((5, 6, 14, 15, 16, 51))
"""LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE,
NOT_COORDINATOR, CONCURRENT_TRANSACTIONS: errors that clients retry, and so does a replay where the
recording has none of them."""

RETRIABLE_BY_API: Final = {
    PRODUCE: frozenset((45,)),  # OUT_OF_ORDER_SEQUENCE_NUMBER: while a preceding batch is retried
    FETCH: SESSION_ERRORS,
}
"""Further errors to retry, by API key."""

ENDED: Final = frozenset((22, 27))
"""ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS: errors of a SyncGroup after which its member joins again."""

RETRIES: Final = 50
PAUSE: Final = 0.1
"""Retries of a request, and the seconds between them."""


@dataclass(slots=True)
class _LiveRequest:
    """A request in the live cluster's terms, and the responses that are due."""

    exchange: Exchange
    version: int
    body: dict[str, Any]
    coordinator: Coordinator | None
    futures: dict[int, asyncio.Future[bytes]] = field(default_factory=dict)
    """Due responses by node id."""


class PlayerOptions(NamedTuple):
    """Options of a replay."""

    speed: float = 1.0
    """10 takes a tenth of the recorded time; 0: as fast as possible."""
    allowed: Collection[int] = ()
    """API keys to send in addition to clients' APIs."""
    shift_ms: int = 0
    """Added to the timestamps of records."""
    ignore: tuple[str, ...] = OF_THE_CLUSTER
    """Fields that are not compared."""
    patience: float = PATIENCE


class Player:
    """Sends recorded requests to a live cluster; `done` gets the outcome of each exchange."""

    def __init__(
        self,
        cluster: LiveCluster,
        index: Index,
        done: Callable[[Outcome], None],
        manner: PlayerOptions = PlayerOptions(),  # noqa: B008 (immutable)
    ) -> None:
        self._cluster = cluster
        self._index = index
        self._done = done
        self._manner = manner
        self._translation = Translation(index, manner.shift_ms)
        self._sessions = FetchSessions()
        self._members: RecordedMembers[_LiveRequest] = RecordedMembers()
        self._connections = LiveConnections(cluster.dial)
        self._under_way: list[tuple[int, int, asyncio.Task[None]]] = []
        """A heap of (time of the recorded response, number of the exchange, waiting task)."""
        self._repeated: list[asyncio.Task[dict[str, Any]]] = []
        """SyncGroups that were sent again; nothing waits for their responses."""

    async def play(self, exchanges: Iterable[tuple[int, Exchange]]) -> None:
        """Send all requests, and wait for all responses."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            for number, exchange in exchanges:
                omission = omission_of(exchange, self._manner.allowed)
                if omission is None:
                    if self._manner.speed:
                        due = (exchange.ts - self._index.began) / 1e9 / self._manner.speed
                        await asyncio.sleep(max(began + due - loop.time(), 0))
                    await self._wait_for_responses(exchange.ts)
                    await self._ask(number, exchange)
                else:
                    self._done(Outcome(exchange, omission))
                if self._index.last.get(exchange.connection) == number:
                    self._connections.end(exchange.connection)
                    self._sessions.forget(exchange.connection)
            await self._wait_for_responses(None)
        finally:
            tasks = [*self._repeated, *(task for *_, task in self._under_way)]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._connections.close()

    async def _wait_for_responses(self, before: int | None) -> None:
        """Wait for all responses that the recording has before this time; None: for all."""
        while self._under_way and (before is None or self._under_way[0][0] <= before):
            *_, task = heapq.heappop(self._under_way)
            await task

    async def _ask(self, number: int, exchange: Exchange) -> None:
        try:
            request = self._translate(exchange)
            await self._send(request)
            if exchange.key == SYNC_GROUP and (member := self._members.sender(exchange.request)):
                member.sync = request
        except (NotReplayable, Unfit, Malformed) as problem:
            self._done(Outcome(exchange, Omission(str(problem), expected=False)))
            return
        except OSError as problem:
            self._done(Outcome(exchange, problem=str(problem) or type(problem).__name__))
            return
        if (
            not request.futures or exchange.latency_ms is None
        ):  # no response is due, or the recording has none
            self._done(Outcome(exchange, version=request.version))
            return
        answered = exchange.ts + int(exchange.latency_ms * 1e6)
        task = asyncio.create_task(self._finish(request))
        heapq.heappush(self._under_way, (answered, number, task))

    async def _send(self, request: _LiveRequest) -> None:
        """Send a request to all brokers that it is for. Raises OSError, Unfit."""
        exchange = request.exchange
        answered = exchange.key != PRODUCE or request.body["acks"] != 0
        request.futures = {}
        for node, part in (await self._parts(request)).items():
            body, key = part, (exchange.connection, node)
            if exchange.key == FETCH:
                body = self._sessions.ask(key, part)
            encoded = api(exchange.key).request.codec(request.version).encode(body)
            connection = await self._connections.ready(key, self._cluster.nodes[node])
            future = connection.send(
                exchange.key, request.version, exchange.client_id, encoded, answered=answered
            )
            await connection.drain()
            if future is not None:
                request.futures[node] = future

    async def _parts(self, request: _LiveRequest) -> dict[int, dict[str, Any]]:
        """Return the part of a request for each broker, by node id."""
        key, body = request.exchange.key, request.body
        if request.coordinator is not None:
            return {await self._cluster.coordinator(request.coordinator): body}
        node = self._cluster.node_for(request.exchange.broker)
        if key not in OF_LEADERS:
            return {node: body}
        leaders = await self._cluster.leaders(leader_partitions(key, body))
        parts = split(key, body, lambda topic, number: leaders.get((topic, number), node))
        return parts or {node: body}

    async def _finish(self, request: _LiveRequest) -> None:
        """Wait for the responses, learn from them, and compare them."""
        exchange = request.exchange
        try:
            async with asyncio.timeout(self._manner.patience):
                response = await self._answer(request)
        except TimeoutError:
            problem = f"no answer within {self._manner.patience:g} s"
        except asyncio.CancelledError:
            problem = "the replay was stopped"
        except (OSError, Malformed) as error:
            problem = str(error) or type(error).__name__
        else:
            self._done(self._outcome(request, response))
            return
        self._done(Outcome(exchange, version=request.version, problem=problem))

    async def _answer(self, request: _LiveRequest) -> dict[str, Any]:
        """Return the response, after retries for errors that a client retries, too."""
        key, version = request.exchange.key, request.version
        codec = api(key).response.codec(version)
        transient = RETRIABLE | RETRIABLE_BY_API.get(key, frozenset())
        recorded = request.exchange.error
        again = recorded is not None and recorded not in map(error_name, transient)
        for _ in range(RETRIES):
            if key == JOIN_GROUP:
                await self._join(request)
            bodies = {node: await future for node, future in request.futures.items()}
            responses = {node: codec.decode(body) for node, body in bodies.items()}
            if key == FETCH:
                for node, body in responses.items():
                    self._sessions.learn_response((request.exchange.connection, node), body)
            error = next(
                filter(None, (first_error(key, version, body) for body in bodies.values())), 0
            )
            member = self._members.sender(request.exchange.request) if key == SYNC_GROUP else None
            if member is not None and error in ENDED and recorded == "":
                await self._join_again(request, member)
            elif error in transient and again:
                await asyncio.sleep(PAUSE)
                self._cluster.forget(request.coordinator)
            else:
                break
            await self._send(request)
        return merge(key, list(responses.values()))

    async def _join(self, request: _LiveRequest) -> None:
        """Wait for a JoinGroup; if it takes long, have the generation's other members join again."""
        recorded = request.exchange.response
        done, _ = await asyncio.wait(request.futures.values(), timeout=REJOIN_AFTER)
        if done or recorded is None or recorded["error_code"]:
            return
        members = self._members.of(request.body["group_id"], recorded["generation_id"])
        # a SyncGroup without a response yet gets an error, after which its member joins by itself
        others = [
            member
            for member_id, member in members.items()
            if member_id != recorded["member_id"]
            and (member.sync is None or all(f.done() for f in member.sync.futures.values()))
        ]
        await self._repeat_joins(others)
        for sync in filter(None, (other.sync for other in others)):
            sync.body = self._translate(sync.exchange).body
            await self._send(sync)
            self._repeated.append(asyncio.create_task(self._answer(sync)))

    async def _join_again(self, sync: _LiveRequest, member: Member[_LiveRequest]) -> None:
        """Have the member of a SyncGroup join again, unless it has, and translate the SyncGroup again."""
        if self._translate(sync.exchange).body["generation_id"] == sync.body["generation_id"]:
            await self._repeat_joins([member])
        sync.body = self._translate(sync.exchange).body

    async def _repeat_joins(self, members: Collection[Member[_LiveRequest]]) -> None:
        """Send JoinGroups again, all before the first response, and learn from the responses."""
        joins = [member.join for member in members]
        for join in joins:
            await self._send(join)
        for join in joins:
            (future,) = join.futures.values()
            live = api(JOIN_GROUP).response.codec(join.version).decode(await future)
            assert join.exchange.response is not None  # noqa: S101
            self._learn(join, join.exchange.response, live)

    def _translate(self, exchange: Exchange) -> _LiveRequest:
        """Return a request in the live cluster's terms. Raises NotReplayable, Malformed."""
        request = exchange.request
        assert request is not None  # noqa: S101
        if exchange.key == FETCH:
            request = self._sessions.whole(exchange.connection, request)
        version, body = self._translation.request(exchange, request, self._cluster.offered)
        raw = exchange.request_body or b""
        coordinator = coordinator_of(exchange.key, exchange.version, raw, request)
        return _LiveRequest(exchange, version, body, coordinator)

    def _outcome(self, request: _LiveRequest, live: dict[str, Any]) -> Outcome:
        exchange, version = request.exchange, request.version
        recorded = exchange.response
        if recorded is None:
            return Outcome(exchange, version=version, response=live)
        self._learn(request, recorded, live)
        versions = exchange.version, version
        try:
            expectation = self._translation.response(exchange, recorded, version)
        except NotReplayable as problem:
            return Outcome(
                exchange, version=version, response=live, problem=f"not compared: {problem}"
            )
        differences = compare(exchange.key, versions, expectation, live, self._manner.ignore)
        return Outcome(exchange, version=version, response=live, differences=differences)

    def _learn(self, request: _LiveRequest, recorded: dict[str, Any], live: dict[str, Any]) -> None:
        self._translation.learn(request.exchange, request.version, request.body, live)
        if (
            request.exchange.key == JOIN_GROUP
            and not recorded["error_code"]
            and not live["error_code"]
        ):
            again = replace(request, body={**request.body, "member_id": live["member_id"]})
            member, generation = recorded["member_id"], recorded["generation_id"]
            self._members.note(request.body["group_id"], generation, member, again)
