"""A client that does wrong what a client can do wrong; each thing once, on connections of its own."""

from __future__ import annotations

import itertools
import socket
import time
from typing import Any, Final

from barnabas.specs.frames import decode_frame
from barnabas.specs.records import Record, build
from barnabas.specs.registry import api
from tests.proxy.frames import request

GRACE: Final = 1.2
"""Seconds in which a client may still ask whom it was told of before."""

_SOON: Final = 10.0


class Connection:
    """A connection to a broker; `ask` waits for the answer, `send` does not."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, timeout=_SOON)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = self._socket.makefile("rb")
        self._numbers = itertools.count(1)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *problem: object) -> None:
        self._received.close()
        self._socket.close()

    def send(self, name: str, version: int, body: dict[str, Any], number: int = 0) -> None:
        """Send a request, of this number if there is one."""
        number = number or next(self._numbers)
        self._socket.sendall(request(name, number, version=version, client="wrong", **body))

    def hear(self, name: str, version: int) -> dict[str, Any]:
        """The next response."""
        data = self._received.read(int.from_bytes(self._received.read(4)))
        return decode_frame(data, "response", key=api(name).key, version=version).body

    def ask(self, name: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its response."""
        self.send(name, version, body)
        return self.hear(name, version)

    def closed(self) -> bool:
        """Whether the broker hangs up."""
        return self._received.read(1) == b""


Address = tuple[str, int]


def run(brokers: dict[int, Address], topic: str, group: str) -> None:
    """All of it, against a cluster with the topic."""
    first = brokers[min(brokers)]
    with Connection(first) as one:
        one.ask("ApiVersions", 0, {})
        found = one.ask("Metadata", 7, {"topics": [{"name": topic}], **_NO_TOPICS})
        partitions = found["topics"][0]["partitions"]
        leader = next(one["leader_id"] for one in partitions if one["partition_index"] == 0)
        other = next(node for node in brokers if node != leader)
        _ids_again(one, topic)
    _not_offered(first)
    time.sleep(GRACE)
    _not_the_leader(brokers[other], topic)
    _past_the_end(brokers[leader], topic)
    _nobodys_commit(first, brokers, group, topic)


_NO_TOPICS: Final = {"allow_auto_topic_creation": False}


def _ids_again(one: Connection, topic: str) -> None:
    for _ in range(2):
        one.send("Metadata", 7, {"topics": [{"name": topic}], **_NO_TOPICS}, number=77)
    for _ in range(2):
        one.hear("Metadata", 7)


def _not_offered(first: Address) -> None:
    with Connection(first) as one:
        one.ask("ApiVersions", 0, {})
        one.send("ListTransactions", 2, {})
        one.closed()


def _not_the_leader(other: Address, topic: str) -> None:
    """Over and over without a pause: on one connection, and each time on a new one."""
    records = build([Record(0, round(time.time() * 1000), None, b"for somebody else")])
    partition = {"index": 0, "records": records}
    body = {
        "acks": -1,
        "timeout_ms": 1000,
        "topic_data": [{"name": topic, "partition_data": [partition]}],
    }
    with Connection(other) as one:
        for _ in range(5):
            one.ask("Produce", 9, body)
    again = body | {"timeout_ms": 1001}
    for _ in range(8):
        with Connection(other) as one:
            one.ask("Produce", 9, again)


def _past_the_end(leader: Address, topic: str) -> None:
    partition = {"partition": 0, "fetch_offset": 1_000_000, "partition_max_bytes": 1000}
    body = {
        "max_wait_ms": 100,
        "min_bytes": 1,
        "max_bytes": 1000,
        "topics": [{"topic": topic, "partitions": [partition]}],
    }
    with Connection(leader) as one:
        for _ in range(12):
            one.ask("Fetch", 4, body)


def _nobodys_commit(first: Address, brokers: dict[int, Address], group: str, topic: str) -> None:
    with Connection(first) as one:
        while (found := one.ask("FindCoordinator", 0, {"key": group}))["error_code"]:
            time.sleep(0.2)
    with Connection(brokers[found["node_id"]]) as one:
        asked = {
            "group_id": group,
            "session_timeout_ms": 6000,
            "rebalance_timeout_ms": 6000,
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": bytes(6)}],
        }
        while (joined := one.ask("JoinGroup", 1, asked))["error_code"]:
            time.sleep(0.2)
        member = {"group_id": group, "member_id": joined["member_id"]}
        assignments = [{"member_id": joined["member_id"], "assignment": b""}]
        generation = joined["generation_id"]
        one.ask("SyncGroup", 0, {**member, "generation_id": generation, "assignments": assignments})
        partition = {"partition_index": 0, "committed_offset": 1, "committed_metadata": None}
        topics = [{"name": topic, "partitions": [partition]}]
        former = {"generation_id_or_member_epoch": generation - 1}
        one.ask("OffsetCommit", 2, {**member, **former, "topics": topics})
        one.ask("LeaveGroup", 0, member)
