"""A client program of the tests' own that is a member of a group, or a transactional producer, with a bug if
it is told to have one.

`keeping`: it joins again with an id that it lost. `late`: behind a rebalance it sends one heartbeat of the
generation before. `hasty`: it gives up when the group rebalances. `unfenced`: it produces on when it is
fenced. `mute`: it asks for nothing. `ahead`: it asks for Metadata behind each request, before that is
answered, and gives up where the answers come in another order.
"""

from __future__ import annotations

import json
import queue
import socket
import struct
import sys
import threading
from typing import Any

from barnabas.fuzz.answering.fitting import encoded
from barnabas.specs import decode_frame
from barnabas.specs.frames import Frame, encode_frame
from barnabas.specs.keys import (
    ADD_PARTITIONS_TO_TXN,
    END_TXN,
    HEARTBEAT,
    INIT_PRODUCER_ID,
    JOIN_GROUP,
    METADATA,
    PRODUCE,
    SYNC_GROUP,
)
from barnabas.specs.records import Record, build
from barnabas.specs.registry import api

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
VERSIONS = {JOIN_GROUP: 2, SYNC_GROUP: 1, HEARTBEAT: 1, METADATA: 1}
OTHERS = {INIT_PRODUCER_ID: 0, ADD_PARTITIONS_TO_TXN: 0, PRODUCE: 3, END_TXN: 0}
UNKNOWN_MEMBER, ILLEGAL_GENERATION, FENCED = 25, 22, 90
over = threading.Event()


class GaveUpError(Exception):
    """The session ends by this."""


def answer_to(sock: socket.socket, key: int, **values: Any) -> dict[str, Any]:
    """A request's answer. Raises GaveUpError if there is none."""
    ahead = frame(2, METADATA, topics=[]) if MODE == "ahead" else b""
    sock.sendall(frame(1, key, **values) + ahead)
    found = received(sock, 1, key)
    if MODE == "ahead":
        received(sock, 2, METADATA)
    return found


def frame(number: int, key: int, **values: Any) -> bytes:
    """A request with this correlation id."""
    version = (VERSIONS | OTHERS)[key]
    body = api(key).request.codec(version).decode(encoded(key, version, "request", values))
    header = {"correlation_id": number, "client_id": "own"}
    return encode_frame(Frame("request", key, version, header, body))


def received(sock: socket.socket, number: int, key: int) -> dict[str, Any]:
    """The answer to it. Raises GaveUpError if there is none."""
    size = sock.recv(4, socket.MSG_WAITALL)
    if len(size) < 4:
        raise GaveUpError
    data = sock.recv(struct.unpack(">i", size)[0], socket.MSG_WAITALL)
    if int.from_bytes(data[:4]) != number:
        raise GaveUpError
    version = (VERSIONS | OTHERS)[key]
    return dict(decode_frame(data, "response", key=key, version=version).body)


def member(sock: socket.socket) -> None:
    """Until the session is over."""
    group = {"group_id": "own"}
    who: dict[str, Any] = {"member_id": "", "generation_id": -1}
    while not over.is_set():
        protocols = [{"name": "range", "metadata": b""}]
        joins = {"protocol_type": "consumer", "protocols": protocols}
        answer = answer_to(sock, JOIN_GROUP, **group, **joins, member_id=who["member_id"])
        before = dict(who)
        if answer["error_code"]:
            forget(who, answer["error_code"])
            continue
        who = {name: answer[name] for name in ("member_id", "generation_id")}
        if MODE == "late" and before["generation_id"] > 0:
            answer_to(sock, HEARTBEAT, **group, **before)
        answer = answer_to(sock, SYNC_GROUP, **group, **who)
        while not answer["error_code"] and not over.is_set():
            over.wait(0.01)
            answer = answer_to(sock, HEARTBEAT, **group, **who)
        forget(who, answer["error_code"])


def forget(who: dict[str, Any], error: int) -> None:
    """What an error takes away."""
    if MODE == "hasty":
        raise GaveUpError
    if error == UNKNOWN_MEMBER and MODE != "keeping":
        who["member_id"] = ""
    if error in (UNKNOWN_MEMBER, ILLEGAL_GENERATION):
        who["generation_id"] = -1


def producer(sock: socket.socket) -> None:
    """Until the session is over."""
    who: dict[str, Any] = {}
    while not over.is_set():
        if not who:
            answer = answer_to(sock, INIT_PRODUCER_ID, transactional_id="t")
            if fails(answer["error_code"]):
                continue
            who = {name: answer[name] for name in ("producer_id", "producer_epoch")}
        topics = [{"name": "bench", "partitions": [0]}]
        enters = {f"v3_and_below_{name}": value for name, value in who.items()}
        answer = answer_to(sock, ADD_PARTITIONS_TO_TXN, **enters, v3_and_below_topics=topics)
        (topic,) = answer["results_by_topic_v3_and_below"]
        if fails(topic["results_by_partition"][0]["partition_error_code"]):
            continue
        batch = build([Record(0, 0, None, b"v")], **who, base_sequence=0, is_transactional=True)
        data = [{"name": "bench", "partition_data": [{"index": 0, "records": batch}]}]
        answer = answer_to(sock, PRODUCE, transactional_id="t", acks=-1, topic_data=data)
        failed = fails(answer["responses"][0]["partition_responses"][0]["error_code"])
        while fails(answer_to(sock, END_TXN, **who, committed=not failed)["error_code"]):
            pass


def fails(error: int) -> bool:
    """Whether it is one. Raises GaveUpError for one that ends a producer."""
    if error == FENCED and MODE != "unfenced":
        raise GaveUpError
    return error != 0


def listen(asked: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Lines in."""
    for line in sys.stdin:
        found = json.loads(line)
        if found.get("over"):
            over.set()
        else:
            asked.put(found)
    asked.put({})


def main() -> None:
    """Sessions until there are no more lines."""
    asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(asked,), daemon=True).start()
    print(json.dumps({"ready": True}), flush=True)
    while one := asked.get():
        over.clear()
        raised = None
        host, port = one["bootstrap"].split(":")
        try:
            if MODE != "mute":
                with socket.create_connection((host, int(port))) as sock:
                    (member if one["run"] == "member" else producer)(sock)
        except GaveUpError:
            raised = {"class": "own.GaveUp", "bases": [], "message": "", "frames": []}
        print(json.dumps({"number": one["number"], "records": 0, "raised": raised}), flush=True)


if __name__ == "__main__":
    main()
