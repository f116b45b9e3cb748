"""Scripts run without barnabas, and the broker does with them what it did with the case."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.engine.making import cook
from barnabas.fuzz.report.script import script
from barnabas.fuzz.sessions.registry import seeds
from barnabas.fuzz.targets.apache import apache
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.recording import Recorded, recorded
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.specs import decode_frame
from barnabas.specs.keys import HEARTBEAT, METADATA, PRODUCE
from tests.fuzz.observed import request


def ran(text: str, address: str, folder: Path) -> list[str]:
    path = folder / "finding.py"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(path), address],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=folder,
    )
    return done.stdout.splitlines()


def answer(line: str) -> bytes:
    return bytes.fromhex(line.partition(": ")[2])


def test_a_request_is_answered(tmp_path: Path) -> None:
    frame = request(METADATA, 1, {"topics": None}, correlation_id=5)
    recipe = Recipe(Seed(METADATA, 1, "request", frame[4:], "mine"), ())
    case = Case(0, recipe, (frame,))
    with EmbeddedCluster(1) as cluster:
        received, end = ran(
            script('it "dies"\\', case, Recorded((), (frame,))), cluster.bootstrap, tmp_path
        )
    assert answer(received)[:4] == (5).to_bytes(4, "big")
    assert end == "nothing more within 5 s; the connection is open"


def test_a_broker_that_is_not_there_is_a_line(tmp_path: Path) -> None:
    frame = request(METADATA, 1, {"topics": None})
    case = Case(0, Recipe(Seed(METADATA, 1, "request", frame[4:], "mine"), ()), (frame,))
    path = tmp_path / "finding.py"
    path.write_text(script("it", case, Recorded((), (frame,))))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(path), f"127.0.0.1:{port}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"127.0.0.1:{port}: ")
    assert done.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def kafka() -> Iterator[BrokerTarget]:
    with apache(ApacheSettings.of("4.3.1")) as target:
        yield target


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.parametrize(
    ("origin", "key"),
    [("session:joined:Heartbeat-4", HEARTBEAT), ("session:idempotent:Produce-9", PRODUCE)],
)
def test_what_only_the_broker_knows_is_taken_from_its_answers(
    kafka: BrokerTarget, origin: str, key: int, tmp_path: Path
) -> None:
    """A member id, or a producer id and the checksum of its batch: each time others."""
    offered = kafka.prober.offered()
    seed = next(seed for seed in seeds(offered) if seed.origin == origin)
    case = cook(Recipe(seed, (), origin.split(":")[1]), 0)
    text = script("fine", case, recorded(kafka.service.address, offered, case, 1))
    host, port = kafka.service.address
    for _ in range(2):
        received, _ = ran(text, f"{host}:{port}", tmp_path)
        found = decode_frame(answer(received), "response", key=key, version=seed.version).body
        codes = found["responses"][0]["partition_responses"][0] if key == PRODUCE else found
        assert codes["error_code"] == 0
