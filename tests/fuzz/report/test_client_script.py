"""Scripts of clients' findings are brokers without barnabas, and a client does with them what it did."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.bench_broker.broker import Broker
from barnabas.fuzz.bench_broker.cluster import TOPIC, Cluster
from barnabas.fuzz.bench_broker.contexts.registry import context_of
from barnabas.fuzz.bench_broker.offer import narrowed
from barnabas.fuzz.bench_broker.planted import PlantedResponse
from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Delivery, Live, Recipe, Seed, shape_of
from barnabas.fuzz.report.client_script import Session, client_script
from barnabas.fuzz.targets.clients.limits import Limits
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.peers.clients.client import Client
from barnabas.peers.clients.python import program
from barnabas.specs import api, decode_frame
from barnabas.specs.frames import response_body
from barnabas.specs.keys import API_VERSIONS, FETCH, FIND_COORDINATOR, LIST_OFFSETS, METADATA
from tests.fuzz.observed import request

VERSION = 1
SEED, *_ = seeds([(METADATA, VERSION)])


def case_of(frame: bytes, seed: Seed = SEED, delivery: Delivery = "whole") -> Case:
    live = (Live(0, 4, 4, "correlation_id"),)
    return Case(0, Recipe(seed, ()), (len(frame).to_bytes(4, "big") + frame,), live, delivery)


def recorded(case: Case) -> Broker:
    """A broker that was asked for versions, and twice for the case."""
    broker = Broker(
        Cluster("127.0.0.1", 40000),
        narrowed(METADATA, VERSION),
        PlantedResponse(case, METADATA, VERSION),
    )
    broker.answer(request(API_VERSIONS, 0, {})[4:])
    for number in range(2):
        broker.answer(request(METADATA, VERSION, {"topics": None}, correlation_id=number)[4:])
    return broker


@contextlib.contextmanager
def running(text: str, folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    path = folder / "finding.py"
    path.write_text(text)
    line = [sys.executable, "-I", "-S", str(path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1], process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> list[str]:
    process.kill()
    assert process.stdout is not None
    return process.stdout.read().splitlines()


def connected(address: str) -> socket.socket:
    host, port = address.split(":")
    sock = socket.create_connection((host, int(port)))
    sock.settimeout(None)  # as MSG_WAITALL wants it
    return sock


def asked(sock: socket.socket, key: int, version: int, body: dict[str, Any], number: int) -> bytes:
    """The answer with its size; nothing if the connection is closed."""
    sock.sendall(request(key, version, body, correlation_id=number))
    with contextlib.suppress(ConnectionResetError):
        size = sock.recv(4, socket.MSG_WAITALL)
        return size + sock.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
    return b""


def test_the_first_answer_is_the_case_and_later_ones_are_valid(tmp_path: Path) -> None:
    case = case_of(SEED.frame + b"beyond")
    text = client_script('it "dies"\\', [Session(case, [recorded(case)], "asks")])
    with running(text, tmp_path) as (address, process):
        with connected(address) as sock:
            versions = asked(sock, API_VERSIONS, 0, {}, 7)
            assert decode_frame(versions[4:], "response", key=API_VERSIONS, version=0)
            assert versions[4:8] == (7).to_bytes(4, "big")
            planted = asked(sock, METADATA, VERSION, {"topics": None}, 8)
            assert planted.endswith(b"beyond")
            assert planted[4:8] == (8).to_bytes(4, "big")
            for number in (9, 10, 11):
                answer = asked(sock, METADATA, VERSION, {"topics": None}, number)[4:]
                found = decode_frame(answer, "response", key=METADATA, version=VERSION)
                assert found.header["correlation_id"] == number
                (broker,) = found.body["brokers"]
                assert f"{broker['host']}:{broker['port']}" == address
            assert asked(sock, FIND_COORDINATOR, 0, {"key": "g"}, 12) == b""
        lines = said(process)
    assert lines[:2] == [f"ApiVersions v0: {len(versions)} bytes", "Metadata v1: THE CASE"]
    assert lines[-1] == "API key 10 v0: not in the recording; connection closed"


def _context_case(key: int, version: int, context: str) -> Case:
    (seed,) = (seed for seed in seeds([(key, version)]) if shape_of(seed.origin) == context)
    return case_of(seed.frame, seed)


def _recorded_in_context(case: Case, *requests: bytes) -> Broker:
    seed = case.recipe.seed
    context = context_of(case)
    broker = Broker(
        Cluster("127.0.0.1", 40000),
        narrowed(seed.key, seed.version),
        PlantedResponse(case, seed.key, seed.version, repeats=context.repeats),
        context=context,
    )
    for each in requests:
        broker.answer(each[4:])
    return broker


def test_a_case_that_the_context_repeats_is_sent_each_time(tmp_path: Path) -> None:
    case = _context_case(METADATA, VERSION, "every-time")
    metadata = request(METADATA, VERSION, {"topics": None})
    text = client_script("t", [Session(case, [_recorded_in_context(case, metadata)], "asks")])
    assert "Each further request" in text
    with running(text, tmp_path) as (address, process):
        with connected(address) as sock:
            for number in range(3):
                answer = asked(sock, METADATA, VERSION, {"topics": None}, number)
                assert decode_frame(answer[4:], "response", key=METADATA, version=VERSION)
        assert said(process) == ["Metadata v1: THE CASE"] * 3


def test_a_case_waits_for_the_answers_that_its_context_changes(tmp_path: Path) -> None:
    case = _context_case(METADATA, VERSION, "leader-moves")
    body = {"max_wait_ms": 0, "topics": []}
    fetch = request(FETCH, 4, api(FETCH).request.layout(4).defaults() | body)
    metadata = request(METADATA, VERSION, {"topics": None})
    broker = _recorded_in_context(case, metadata, fetch, metadata, metadata)
    text = client_script("t", [Session(case, [broker], "asks")])
    with running(text, tmp_path) as (address, process):
        with connected(address) as sock:
            for each in (metadata, fetch, metadata, metadata):
                sock.sendall(each)
                size = sock.recv(4, socket.MSG_WAITALL)
                sock.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
        names = [line.partition(":") for line in said(process)]
    assert [(name, what == " THE CASE") for name, _, what in names] == [
        ("Metadata v1", False),
        ("Fetch v4", False),
        ("Metadata v1", True),
        ("Metadata v1", False),
    ]


def test_after_wrong_answers_of_the_context_valid_ones_follow(tmp_path: Path) -> None:
    case = _context_case(METADATA, VERSION, "together")
    metadata = request(METADATA, VERSION, {"topics": None})
    wrong = _recorded_in_context(case, *[metadata] * 2)
    valid = Broker(Cluster("127.0.0.1", 40000), narrowed(METADATA, VERSION))
    valid.answer(metadata[4:])
    text = client_script("t", [Session(case, [wrong, valid], "asks")])
    with running(text, tmp_path) as (address, _), connected(address) as sock:
        answers = [asked(sock, METADATA, VERSION, {"topics": None}, 1) for _ in range(4)]
    planted, distorted, *later = answers
    assert planted != distorted
    assert later == [planted] * 2  # the case is the valid answer


def _list_offsets(timestamp: int) -> dict[str, Any]:
    partitions = [{"partition_index": 0, "timestamp": timestamp}]
    return {"replica_id": -1, "topics": [{"name": TOPIC, "partitions": partitions}]}


def test_a_request_gets_the_answer_to_an_equal_one_whatever_the_order(tmp_path: Path) -> None:
    case = case_of(SEED.frame)
    asks = [request(LIST_OFFSETS, 1, _list_offsets(timestamp)) for timestamp in (-2, -1)]
    text = client_script("t", [Session(case, [_recorded_in_context(case, *asks)], "asks")])
    offsets = []
    with running(text, tmp_path) as (address, _), connected(address) as sock:
        for timestamp in (-1, -2, -1):
            answer = asked(sock, LIST_OFFSETS, 1, _list_offsets(timestamp), 1)
            body = decode_frame(answer[4:], "response", key=LIST_OFFSETS, version=1).body
            offsets.append(body["topics"][0]["partitions"][0]["offset"])
    assert offsets == [7, 0, 7]


REFUSED = 15
"""COORDINATOR_NOT_AVAILABLE"""
JOINS = """
import sys, kafka
options = {"group_id": "bench-group", "auto_offset_reset": "earliest", "retry_backoff_ms": 5}
next(kafka.KafkaConsumer("bench", bootstrap_servers=sys.argv[1], **options))
"""


@pytest.mark.parametrize(("context", "repeats"), [("every-time", True), ("", False)])
def test_a_client_does_upon_the_script_what_it_does_in_the_context(
    context: str, repeats: bool, tmp_path: Path
) -> None:
    installed = Client("kafka-python", "-", lambda: program(Path(sys.executable), "kafka_python"))
    seed = _context_case(FIND_COORDINATOR, VERSION, context).recipe.seed
    codec = api(FIND_COORDINATOR).response.codec(VERSION)
    body = response_body(seed.frame, FIND_COORDINATOR, VERSION)
    refusal = codec.decode(seed.frame[body:]) | {"error_code": REFUSED}
    case = case_of(seed.frame[:body] + codec.encode(refusal), seed)
    case = case._replace(recipe=case.recipe._replace(session="group"))
    with ClientTarget(installed, limits=Limits(hung_s=60.0), side_by_side=1) as target:
        text = client_script("t", [Session(case, *target.recorded(case))])
    cases = 0
    with (
        running(text, tmp_path) as (address, process),
        subprocess.Popen([sys.executable, "-c", JOINS, address]) as consumer,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            cases += line.endswith("THE CASE\n")
            if cases > 1 or line.startswith("JoinGroup"):  # it asks again, or has its coordinator
                break
        consumer.kill()
    assert (cases > 1) == repeats


@pytest.mark.parametrize("delivery", ["bytewise", "burst", "half_open"])
def test_a_case_is_delivered_as_it_was(delivery: Delivery, tmp_path: Path) -> None:
    case = case_of(SEED.frame, delivery=delivery)
    text = client_script("fine", [Session(case, [recorded(case)], "asks")])
    with running(text, tmp_path) as (address, _), connected(address) as sock:
        answer = asked(sock, METADATA, VERSION, {"topics": None}, 5)
        assert decode_frame(answer[4:], "response", key=METADATA, version=VERSION)
        if delivery == "half_open":
            assert sock.recv(1) == b""
        else:
            assert asked(sock, METADATA, VERSION, {"topics": None}, 6)
