"""Recorded clients at work: each request is sent when all that had been answered before it was is answered.

So the order of cause and effect is that of the recording, however fast it goes, and so is the pipelining.
A request goes out on the live connection that stands for its recorded one and for the broker that it is
for now.
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
from barnabas.peers.replay.generations import ALONE, Joined
from barnabas.peers.replay.order import Index
from barnabas.peers.replay.outcome import OF_THE_CLUSTER, Outcome, compared
from barnabas.peers.replay.plan import Left, left_out
from barnabas.peers.replay.routing import (
    OF_LEADERS,
    Coordinator,
    coordinator_of,
    merge,
    places,
    split,
)
from barnabas.peers.replay.sessions import SESSION_ERRORS, FetchSessions
from barnabas.peers.replay.translation import Translation
from barnabas.peers.replay.versions import NotReplayable
from barnabas.specs.codec.careful_encoder import Unfit
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import FETCH, JOIN_GROUP, PRODUCE
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

PATIENCE: Final = 60.0
"""Seconds after which a response that was answered in the recording is no longer waited for."""

TRANSIENT: Final = frozenset((5, 6, 14, 15, 16, 51))
"""LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE,
NOT_COORDINATOR, CONCURRENT_TRANSACTIONS: a client asks again, and so does a replay where the recording
has none of them."""

OF_API: Final = {
    PRODUCE: frozenset((45,)),  # OUT_OF_ORDER_SEQUENCE_NUMBER: while a batch before is asked again
    FETCH: SESSION_ERRORS,
}
"""API key -> what else is asked again."""

AGAIN: Final = 50
PAUSE: Final = 0.1
"""How often and after how many seconds it is asked again."""


@dataclass(slots=True)
class _Asked:
    """A request in the live cluster's terms: what each broker is asked."""

    exchange: Exchange
    version: int
    body: dict[str, Any]
    coordinator: Coordinator | None
    futures: dict[int, asyncio.Future[bytes]] = field(default_factory=dict)
    """Node id -> its answer, where one is due."""


class Manner(NamedTuple):
    """How exchanges are played."""

    speed: float = 1.0
    """10 asks in a tenth of the recorded time; 0 as fast as it goes."""
    allowed: Collection[int] = ()
    """Keys of APIs in addition to those of clients."""
    shift_ms: int = 0
    """Added to the timestamps of records."""
    ignore: tuple[str, ...] = OF_THE_CLUSTER
    """Fields that are not compared."""
    patience: float = PATIENCE


class Player:
    """Plays recorded exchanges to a live cluster; `done` gets the outcome of each."""

    def __init__(
        self,
        cluster: LiveCluster,
        index: Index,
        done: Callable[[Outcome], None],
        manner: Manner = Manner(),  # noqa: B008 (immutable)
    ) -> None:
        self._cluster = cluster
        self._index = index
        self._done = done
        self._manner = manner
        self._translation = Translation(index, manner.shift_ms)
        self._sessions = FetchSessions()
        self._joined: Joined[_Asked] = Joined()
        self._connections = LiveConnections(cluster.dial)
        self._under_way: list[tuple[int, int, asyncio.Task[None]]] = []
        """(when it was answered in the recording, number, the one that waits), a heap."""

    async def play(self, exchanges: Iterable[tuple[int, Exchange]]) -> None:
        """Ask all of them; ends when all are answered."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            for number, exchange in exchanges:
                left = left_out(exchange, self._manner.allowed)
                if left is None:
                    if self._manner.speed:
                        due = (exchange.ts - self._index.began) / 1e9 / self._manner.speed
                        await asyncio.sleep(max(began + due - loop.time(), 0))
                    await self._answered(exchange.ts)
                    await self._ask(number, exchange)
                else:
                    self._done(Outcome(exchange, left))
                if self._index.last.get(exchange.connection) == number:
                    self._connections.end(exchange.connection)
                    self._sessions.forget(exchange.connection)
            await self._answered(None)
        finally:
            tasks = [task for *_, task in self._under_way]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._connections.close()

    async def _answered(self, before: int | None) -> None:
        """Wait for all that was answered before this time in the recording; None: for all."""
        while self._under_way and (before is None or self._under_way[0][0] <= before):
            *_, task = heapq.heappop(self._under_way)
            await task

    async def _ask(self, number: int, exchange: Exchange) -> None:
        try:
            asked = self._prepared(exchange)
            await self._send(asked)
        except (NotReplayable, Unfit, Malformed) as problem:
            self._done(Outcome(exchange, Left(str(problem), expected=False)))
            return
        except OSError as problem:
            self._done(Outcome(exchange, problem=str(problem) or type(problem).__name__))
            return
        if (
            not asked.futures or exchange.latency_ms is None
        ):  # no answer is due, or none was recorded
            self._done(Outcome(exchange, version=asked.version))
            return
        answered = exchange.ts + int(exchange.latency_ms * 1e6)
        task = asyncio.create_task(self._finish(asked))
        heapq.heappush(self._under_way, (answered, number, task))

    async def _send(self, asked: _Asked) -> None:
        """Send a request to all brokers that it is for. Raises OSError, Unfit."""
        exchange = asked.exchange
        answered = exchange.key != PRODUCE or asked.body["acks"] != 0
        asked.futures = {}
        for node, part in (await self._parts(asked)).items():
            body, place = part, (exchange.connection, node)
            if exchange.key == FETCH:
                body = self._sessions.ask(place, part)
            encoded = api(exchange.key).request.codec(asked.version).encode(body)
            connection = await self._connections.ready(place, self._cluster.nodes[node])
            future = connection.send(
                exchange.key, asked.version, exchange.client_id, encoded, answered=answered
            )
            await connection.drain()
            if future is not None:
                asked.futures[node] = future

    async def _parts(self, asked: _Asked) -> dict[int, dict[str, Any]]:
        """Node id -> what it is asked."""
        key, body = asked.exchange.key, asked.body
        if asked.coordinator is not None:
            return {await self._cluster.coordinator(asked.coordinator): body}
        node = self._cluster.node_for(asked.exchange.broker)
        if key not in OF_LEADERS:
            return {node: body}
        leaders = await self._cluster.leaders(places(key, body))
        found = split(key, body, lambda topic, number: leaders.get((topic, number), node))
        return found or {node: body}

    async def _finish(self, asked: _Asked) -> None:
        """Wait for the answer, learn from it, compare it."""
        exchange = asked.exchange
        try:
            async with asyncio.timeout(self._manner.patience):
                response = await self._answer(asked)
        except TimeoutError:
            problem = f"no answer within {self._manner.patience:g} s"
        except asyncio.CancelledError:
            problem = "the replay was stopped"
        except (OSError, Malformed) as found:
            problem = str(found) or type(found).__name__
        else:
            self._done(self._outcome(asked, response))
            return
        self._done(Outcome(exchange, version=asked.version, problem=problem))

    async def _answer(self, asked: _Asked) -> dict[str, Any]:
        """The response; asked again where a client would that finds its way."""
        key, version = asked.exchange.key, asked.version
        codec = api(key).response.codec(version)
        transient = TRANSIENT | OF_API.get(key, frozenset())
        recorded = asked.exchange.error
        again = recorded is not None and recorded not in map(error_name, transient)
        for _ in range(AGAIN):
            if key == JOIN_GROUP:
                await self._join(asked)
            bodies = {node: await future for node, future in asked.futures.items()}
            found = {node: codec.decode(body) for node, body in bodies.items()}
            if key == FETCH:
                for node, body in found.items():
                    self._sessions.answered((asked.exchange.connection, node), body)
            error = next(
                filter(None, (first_error(key, version, body) for body in bodies.values())), 0
            )
            if error not in transient or not again:
                break
            await asyncio.sleep(PAUSE)
            self._cluster.forget(asked.coordinator)
            await self._send(asked)
        return merge(key, list(found.values()))

    async def _join(self, asked: _Asked) -> None:
        """Wait for a JoinGroup; if it takes long, let those join again whom it was with."""
        recorded = asked.exchange.response
        done, _ = await asyncio.wait(asked.futures.values(), timeout=ALONE)
        if done or recorded is None or recorded["error_code"]:
            return
        group = asked.body["group_id"]
        others = self._joined.others(group, recorded["generation_id"], recorded["member_id"])
        for other in others:
            await self._send(other)
        for other in others:
            (future,) = other.futures.values()
            live = api(JOIN_GROUP).response.codec(other.version).decode(await future)
            assert other.exchange.response is not None  # noqa: S101
            self._learn(other, other.exchange.response, live)

    def _prepared(self, exchange: Exchange) -> _Asked:
        """A request in the live cluster's terms. Raises NotReplayable, Malformed."""
        request = exchange.request
        assert request is not None  # noqa: S101
        if exchange.key == FETCH:
            request = self._sessions.whole(exchange.connection, request)
        version, body = self._translation.request(exchange, request, self._cluster.offered)
        raw = exchange.request_body or b""
        coordinator = coordinator_of(exchange.key, exchange.version, raw, request)
        return _Asked(exchange, version, body, coordinator)

    def _outcome(self, asked: _Asked, live: dict[str, Any]) -> Outcome:
        exchange, version = asked.exchange, asked.version
        recorded = exchange.response
        if recorded is None:
            return Outcome(exchange, version=version, response=live)
        self._learn(asked, recorded, live)
        versions = exchange.version, version
        try:
            wanted = self._translation.response(exchange, recorded, version)
        except NotReplayable as problem:
            return Outcome(
                exchange, version=version, response=live, problem=f"not compared: {problem}"
            )
        found = compared(exchange.key, versions, wanted, live, self._manner.ignore)
        return Outcome(exchange, version=version, response=live, differences=found)

    def _learn(self, asked: _Asked, recorded: dict[str, Any], live: dict[str, Any]) -> None:
        self._translation.learn(asked.exchange, asked.version, asked.body, live)
        if (
            asked.exchange.key == JOIN_GROUP
            and not recorded["error_code"]
            and not live["error_code"]
        ):
            again = replace(asked, body={**asked.body, "member_id": live["member_id"]})
            member, generation = recorded["member_id"], recorded["generation_id"]
            self._joined.note(asked.body["group_id"], generation, member, again)
