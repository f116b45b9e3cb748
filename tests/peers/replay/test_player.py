"""Recorded exchanges against a small broker in the same loop: what is sent when, and what comes of it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay import player
from barnabas.peers.replay.cluster import LiveCluster, Unreachable
from barnabas.peers.replay.connection import ConnectionLost, LiveConnection
from barnabas.peers.replay.order import in_order, index
from barnabas.peers.replay.outcome import Outcome
from barnabas.peers.replay.player import Player, PlayerOptions
from barnabas.specs.frames import RequestHead, request_head
from barnabas.specs.headers import RESPONSE_HEADER, response_header_version
from barnabas.specs.registry import api
from tests.captures.checks.given import exchange

FETCH, METADATA, API_VERSIONS, HEARTBEAT, FIND, JOIN, SYNC = 1, 3, 18, 12, 10, 11, 14

ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS = 22, 27

Answer = Callable[[RequestHead, dict[str, Any]], Awaitable[dict[str, Any] | None]]


class Broker:
    """Answers what every client asks first; `answer` has a word in all else, None hangs up."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> tuple[str, int]:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.address: tuple[str, int] = self._server.sockets[0].getsockname()[:2]
        return self.address  # type: ignore[no-any-return]

    async def __aexit__(self, *problem: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while True:
                data = await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
                head = request_head(data, 0, len(data))
                declared = api(head.key)
                body = declared.request.codec(head.version).decode(data[head.body :])
                result = await self._body(head, body)
                if result is None:
                    return
                header = RESPONSE_HEADER.codec(response_header_version(head.key, head.version))
                whole = header.encode({"correlation_id": head.correlation_id})
                whole += declared.response.codec(head.version).encode(result)
                writer.write(len(whole).to_bytes(4) + whole)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client has gone, or the broker stops
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _body(self, head: RequestHead, body: dict[str, Any]) -> dict[str, Any] | None:
        node = {"node_id": 1, "host": self.address[0], "port": self.address[1]}
        if head.key == API_VERSIONS:
            keys = [
                {"api_key": key, "min_version": 0, "max_version": 12 if key == FETCH else 3}
                for key in (METADATA, HEARTBEAT, FIND, FETCH, JOIN, SYNC)
            ]
            return {"api_keys": keys}
        if head.key == METADATA:
            partition = {"partition_index": 0, "leader_id": 1}
            return {"brokers": [node], "topics": [{"name": "t", "partitions": [partition]}]}
        if head.key == FIND:
            return {"error_code": 0, **node}
        return await self._answer(head, body)


def heartbeat(
    ts: int, answered: int | None, member: str, *, connection: int = 1, error: int = 0
) -> Exchange:
    """A Heartbeat, times in ns; answered None: it never was."""
    body = {"group_id": "g", "generation_id": 1, "member_id": member}
    response = None if answered is None else {"error_code": error}
    took = 0 if answered is None else (answered - ts) / MS
    who: dict[str, Any] = {"connection": connection, "client": member}
    return exchange("Heartbeat", 1, body, response, at=ts / MS, took=took, **who)


def play(
    exchanges: list[Exchange], answer: Answer, *, speed: float = 0, patience: float = 10
) -> list[Outcome]:
    async def main() -> list[Outcome]:
        results: list[Outcome] = []
        async with Broker(answer) as address:
            cluster = LiveCluster([address], LiveConnection.open)
            await cluster.start()
            order = index(exchanges)
            manner = PlayerOptions(speed=speed, patience=patience)
            replayed = Player(cluster, order, results.append, manner)
            await replayed.play(in_order(exchanges, order.order))
            await cluster.stop()
        return results

    return asyncio.run(main())


async def fine(head: RequestHead, body: dict[str, Any]) -> dict[str, Any]:
    return {"error_code": 0}


def errors(*codes: int) -> tuple[Answer, list[int]]:
    """What answers with one after the other, and those that are left."""
    left = [*codes]

    async def answer(head: RequestHead, body: dict[str, Any]) -> dict[str, Any]:
        return {"error_code": left.pop(0)}

    return answer, left


def test_what_had_been_answered_before_is_answered_before() -> None:
    lines: list[str] = []

    async def slow_first(head: RequestHead, body: dict[str, Any]) -> dict[str, Any]:
        lines.append(f"{body['member_id']} asks")
        if body["member_id"] == "a":
            while not any(line.startswith("b") for line in lines):
                await asyncio.sleep(0)
        lines.append(f"{body['member_id']} gets")
        return {"error_code": 0}

    # b was sent while a was under way; c when both were answered
    exchanges = [
        heartbeat(0, 20 * MS, "a", connection=1),
        heartbeat(5 * MS, 10 * MS, "b", connection=2),
        heartbeat(30 * MS, 40 * MS, "c", connection=3),
    ]
    result = play(exchanges, slow_first)
    assert lines[0] == "a asks"
    assert lines[-2:] == ["c asks", "c gets"]
    assert {outcome.finding for outcome in result} == {False}
    assert len(result) == 3


def test_what_is_answered_otherwise() -> None:
    (found,) = play([heartbeat(0, 5, "a")], errors(25)[0])
    assert [str(one) for one in found.differences] == ["error_code: 0 ≠ 25"]
    assert found.finding


@pytest.mark.parametrize(("recorded", "codes"), [
    pytest.param(25, (25,), id="the same"),
    pytest.param(0, (16, 14, 0), id="not ready"),
    pytest.param(0, (5, 6, 15, 51, 0), id="no leader, no coordinator, a transaction that ends"),
    pytest.param(79, (14, 79), id="not ready, and the same"),
    pytest.param(16, (16,), id="was not ready either"),
])  # fmt: skip
def test_what_is_not_ready_is_asked_again(recorded: int, codes: tuple[int, ...]) -> None:
    answer, left = errors(*codes)
    (same,) = play([heartbeat(0, 5, "a", error=recorded)], answer)
    assert (same.finding, left) == (False, [])


def test_a_broker_that_hangs_up_or_is_silent() -> None:
    async def hangs_up(head: RequestHead, body: dict[str, Any]) -> None:
        return None

    async def silent(head: RequestHead, body: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    (found,) = play([heartbeat(0, 5, "a")], hangs_up)
    assert "closed the connection" in found.problem
    (found,) = play([heartbeat(0, 5, "a")], silent, patience=0.05)
    assert found.problem == "no answer within 0.05 s"
    (found,) = play([heartbeat(0, None, "a")], silent)
    assert not found.finding


def test_a_client_whose_connection_was_closed_comes_again() -> None:
    requested = []

    async def once(head: RequestHead, body: dict[str, Any]) -> dict[str, Any] | None:
        requested.append(body["member_id"])
        return None if body["member_id"] == "a" else {"error_code": 0}

    first, then = play([heartbeat(0, 5, "a"), heartbeat(9, 12, "b")], once)
    assert (first.finding, then.finding) == (True, False)
    assert requested == ["a", "b"]


def fetch(ts: int, epoch: int, offset: int | None) -> Exchange:
    """The Fetch of a session; offset: of the partition, None if there is nothing new to say of it."""
    topics = [{"topic": "t", "partitions": [{"partition": 0, "fetch_offset": offset}]}]
    session = {"session_id": 7 if epoch else 0, "session_epoch": epoch}
    requested = {**session, "topics": [] if offset is None else topics}
    return exchange("Fetch", 12, requested, {"session_id": 7}, at=ts / MS, took=1 / MS)


def test_a_fetch_session_that_is_lost_is_begun_again() -> None:
    answers = [(0, 99), (0, 99), (70, 0), (0, 100), (71, 0), (0, 101), (0, 101)]
    lines = []

    async def loses(head: RequestHead, body: dict[str, Any]) -> dict[str, Any]:
        offsets = [one["fetch_offset"] for topic in body["topics"] for one in topic["partitions"]]
        lines.append((body["session_id"], body["session_epoch"], offsets))
        error, session = answers.pop(0)
        return {"error_code": error, "session_id": session}

    result = play([fetch(10 * n, n, at) for n, at in enumerate((5, None, 6, None, 7))], loses)
    assert not any(outcome.finding for outcome in result), result
    assert lines == [
        (0, 0, [5]),
        (99, 1, []),
        (99, 2, [6]),  # lost: all again
        (0, 0, [6]),
        (100, 1, []),
        (0, 0, [6]),
        (101, 1, [7]),
    ]


def test_an_api_that_the_cluster_lacks() -> None:
    produce = exchange("Produce", 3, {"acks": 1}, None, at=0)
    (found,) = play([produce], fine)
    assert found.omission is not None
    assert found.omission.reason == "the live cluster does not offer Produce"
    assert found.finding


def test_recorded_time_is_kept() -> None:
    begun = time.monotonic()
    play([heartbeat(0, 1, "a"), heartbeat(200 * MS, 200 * MS + 1, "a")], fine, speed=2)
    assert time.monotonic() - begun >= 0.1


async def nobody(address: tuple[str, int]) -> LiveConnection:
    raise TimeoutError


@pytest.mark.parametrize(("dial", "why"), [(LiveConnection.open, ""), (nobody, "TimeoutError")])
def test_nobody_there(dial: Any, why: str) -> None:
    with pytest.raises(Unreachable, match=rf"127\.0\.0\.1:1: {why}"):
        asyncio.run(LiveCluster([("127.0.0.1", 1)], dial).start())


async def test_answers_to_what_nobody_asked() -> None:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(4)
        writer.write((4).to_bytes(4) + (77).to_bytes(4))
        await reader.read()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    connection = await LiveConnection.open(server.sockets[0].getsockname()[:2])
    future = connection.send(METADATA, 1, "a", b"\xff\xff\xff\xff")
    assert future is not None
    with pytest.raises(ConnectionLost, match="answers request 77"):
        await future
    again = connection.send(METADATA, 1, "a", b"")
    assert again is not None
    with pytest.raises(ConnectionLost):
        await again
    await connection.close()
    server.close()


class Coordinator:
    """A group's coordinator that gives its first member, b, a generation before a joins.

    Args:
        first: The error code of b's SyncGroup for that generation, after which a's JoinGroup arrives.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._generation = 0
        self._joining: set[str] = set()
        self._first_sync, self._second_generation = asyncio.Event(), asyncio.Event()
        self._assigned = asyncio.Event()

    async def __call__(self, head: RequestHead, body: dict[str, Any]) -> dict[str, Any]:
        answer = {JOIN: self._join, SYNC: self._sync, HEARTBEAT: self._heartbeat}[head.key]
        return await answer(body)

    async def _join(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._generation:
            await self._first_sync.wait()
            self._joining.add(body["member_id"])
            if self._joining == {"a", "b"}:
                self._generation = 2
                self._second_generation.set()
            await self._second_generation.wait()
        else:
            self._generation = 1
        return joined(self._generation, body["member_id"], leader="b")

    async def _sync(self, body: dict[str, Any]) -> dict[str, Any]:
        if not self._first_sync.is_set():
            self._first_sync.set()
            return {"error_code": self._first}
        if body["assignments"]:
            self._assigned.set()
        await self._assigned.wait()
        return await self._heartbeat(body)

    async def _heartbeat(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"error_code": 0 if body["generation_id"] == self._generation == 2 else 22}


def joined(generation: int, member: str, leader: str) -> dict[str, Any]:
    """The response to a JoinGroup."""
    return {
        "generation_id": generation,
        "protocol_name": "range",
        "leader": leader,
        "member_id": member,
    }


def of_group(api_name: str, member: str, start: int, end: int, **more: Any) -> Exchange:
    """A member's request to its coordinator, times in ms."""
    request = {"group_id": "g", "generation_id": 1, "member_id": member}
    response: dict[str, Any] = {"error_code": 0}
    if api_name == "JoinGroup":
        request = {"group_id": "g", "member_id": member, "protocol_type": "consumer"}
        response = joined(1, member, leader="a")
    who: dict[str, Any] = {"connection": ord(member), "client": member}
    return exchange(api_name, 1, request | more, response, at=start, took=end - start, **who)


@pytest.mark.parametrize(("first", "rejoin_after"), [
    pytest.param(REBALANCE_IN_PROGRESS, 60.0, id="its SyncGroup meets the rebalance"),
    pytest.param(ILLEGAL_GENERATION, 60.0, id="its SyncGroup comes after the rebalance"),
    pytest.param(0, 0.01, id="the rebalance begins after its SyncGroup"),
])  # fmt: skip
def test_a_member_that_got_a_generation_alone_joins_and_syncs_again(
    monkeypatch: pytest.MonkeyPatch, first: int, rejoin_after: float
) -> None:
    monkeypatch.setattr(player, "REJOIN_AFTER", rejoin_after)
    assignments = [{"member_id": member, "assignment": b""} for member in "ab"]
    exchanges = [
        of_group("JoinGroup", "b", 0, 10),
        of_group("JoinGroup", "a", 1, 20),
        of_group("SyncGroup", "b", 12, 30),
        of_group("SyncGroup", "a", 22, 28, assignments=assignments),
        of_group("Heartbeat", "b", 40, 41),
        of_group("Heartbeat", "a", 40, 41),
    ]
    outcomes = play(exchanges, Coordinator(first))
    assert [outcome.finding for outcome in outcomes] == [False] * 6, outcomes
