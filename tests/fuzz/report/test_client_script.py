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
from barnabas.fuzz.bench_broker.cluster import Cluster
from barnabas.fuzz.bench_broker.offer import narrowed
from barnabas.fuzz.bench_broker.planted import PlantedResponse
from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Delivery, Live, Recipe, Seed
from barnabas.fuzz.report.client_script import Session, client_script
from barnabas.specs import decode_frame
from barnabas.specs.keys import API_VERSIONS, FIND_COORDINATOR, METADATA
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
