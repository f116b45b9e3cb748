"""Scripts run without barnabas, and the broker does with them what it did with the case."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.report.script import criterion, script, server_error
from barnabas.fuzz.sessions.registry import seeds
from barnabas.fuzz.sessions.session import TOPIC
from barnabas.fuzz.targets.apache import apache
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.session_recording import (
    RecordedExchange,
    SessionRecording,
    record_session,
)
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.specs import decode_frame
from barnabas.specs.keys import CREATE_TOPICS, FIND_COORDINATOR, HEARTBEAT, METADATA, PRODUCE
from tests.fuzz.mortal import Mortal
from tests.fuzz.observed import observed, request, response

SERVER_ERROR = ORACLES_BY_NAME["server_error"]


def run(text: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = folder / "finding.py"
    path.write_text(text)
    line = [sys.executable, "-I", "-S", str(path), *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, cwd=folder)


def ran(text: str, address: str, folder: Path, wait: float = 3.0) -> list[str]:
    """What it prints before it says that it can't tell, if it waits for so many seconds."""
    done = run(text.replace("WAIT = 5.0", f"WAIT = {wait}"), folder, address)
    assert done.returncode == 3, done.stderr
    *lines, last = done.stdout.splitlines()
    assert last == "can't tell: at the top stands what shows it"
    return lines


def told(text: str, address: tuple[str, int], folder: Path) -> tuple[int, str]:
    """Its exit code and last line, if it waits for 1 s."""
    text = text.replace("WAIT = 5.0", "WAIT = 1.0").replace("AGAIN = 10.0", "AGAIN = 0.1")
    done = run(text, folder, f"{address[0]}:{address[1]}")
    return done.returncode, (done.stderr or done.stdout).splitlines()[-1]


def asks(*topics: str, correlation_id: int = 7) -> Case:
    body = {"topics": [{"name": name} for name in topics]}
    frame = request(METADATA, 1, body, correlation_id)
    return cook(Recipe(Seed(METADATA, 1, "request", frame[4:], "mine"), ()), 0)


def script_of(case: Case, *before: RecordedExchange, **more: Any) -> str:
    return script('it "dies"\\', case, SessionRecording(before, case.chunks), **more)


@pytest.mark.parametrize("given", [(), ("here",), ("here:x",), ("h:1", "h:2"), ("h:65536",)])
def test_arguments_that_are_no_address_are_told_how_it_is_used(
    tmp_path: Path, given: tuple[str, ...]
) -> None:
    done = run(script_of(asks()), tmp_path, *given)
    assert (done.returncode, done.stderr) == (2, "usage: python3 THIS_FILE HOST:PORT\n")


def answer(line: str) -> bytes:
    return bytes.fromhex(line.partition(": ")[2])


@pytest.mark.slow("waits for more for 5 s")
def test_a_request_is_answered(tmp_path: Path) -> None:
    with EmbeddedCluster(1) as cluster:
        text = script_of(asks(correlation_id=5))
        received, end = ran(text, cluster.bootstrap, tmp_path, wait=5.0)
    assert answer(received)[:4] == (5).to_bytes(4, "big")
    assert end == "nothing more within 5 s; the connection is open"


@pytest.mark.parametrize(
    ("oracle", "behaviour", "dies", "code"),
    [
        ("died", (), True, 1),
        ("died", (), False, 0),
        ("hung", (), True, 1),
        ("hung", (), False, 0),
        ("closing", ("Metadata", "closed"), True, 1),
        ("closing", ("Metadata", "answered", "a", "b"), False, 1),
        ("closing", ("Metadata", "answered", "a", "b"), True, 0),
        ("unanswered", (), False, 0),
    ],
)
def test_it_says_whether_the_finding_is_shown(
    oracle: str, behaviour: tuple[str, ...], dies: bool, code: int, tmp_path: Path
) -> None:
    text = script_of(asks("die"), shown=criterion(oracle, behaviour))
    broker = Mortal(lambda asked: dies and b"die" in asked)
    assert told(text, broker.address, tmp_path) == (code, "shown" if code else "not shown")
    broker.die()


def metadata(error: int) -> bytes:
    topic = {"error_code": error, "name": TOPIC, "is_internal": False, "partitions": []}
    return response(METADATA, 1, {"brokers": [], "controller_id": -1, "topics": [topic]})


def before(case: Case) -> RecordedExchange:
    return RecordedExchange(METADATA, 1, case.chunks[0][4:], metadata(0))


def test_an_answer_before_the_case_that_has_other_fields_or_an_error_ends_it(
    tmp_path: Path,
) -> None:
    case = asks()
    text = script_of(case, before(case))
    assert "coordinates the group" in text
    broker = Mortal(lambda asked: False)
    assert told(text, broker.address, tmp_path) == (
        3,
        "can't tell: at the top stands what shows it",
    )
    size = len(metadata(3))
    broker.answers = {METADATA: metadata(3)}
    code, line = told(text, broker.address, tmp_path)
    assert code == 3
    assert "Metadata v1 was answered with error code 3 (UNKNOWN_TOPIC_OR_PARTITION): " in line
    assert line.endswith("; try again in some seconds")
    broker.answers = {METADATA: metadata(29)}
    code, line = told(text, broker.address, tmp_path)
    assert (code, "code 29 (TOPIC_AUTHORIZATION_FAILED)" in line) == (3, True)
    assert "try again" not in line
    moved = text.replace(f", {size}, False", f", {size + 1}, True")
    moved = moved.replace("AGAIN = 10.0", "AGAIN = 0.0")
    code, line = told(moved, broker.address, tmp_path)
    assert (code, f"{size} bytes came, {size + 1} were recorded" in line) == (3, True)
    broker.die()


def test_what_a_session_needs_is_made_before_it_and_earlier_cases_are_sent(tmp_path: Path) -> None:
    received: list[bytes] = []

    def noted(asked: bytes) -> bool:
        received.append(asked)
        return False

    broker = Mortal(noted)
    topic = {"name": TOPIC, "error_code": 36, "error_message": None}
    broker.answers = broker.answers | {
        CREATE_TOPICS: response(CREATE_TOPICS, 2, {"throttle_time_ms": 0, "topics": [topic]}),
        FIND_COORDINATOR: response(FIND_COORDINATOR, 1, {"error_code": 0}),
    }
    first, second = asks("first"), asks("second")
    earlier = [(first, SessionRecording((before(first),), first.chunks))]
    text = script_of(second, earlier=earlier)
    assert text.count("Sent before: Metadata v1 request") == 1
    code, _ = told(text, broker.address, tmp_path)
    assert code == 3, "nothing visible tells"
    keys = [int.from_bytes(asked[:2]) for asked in received]
    assert keys == [CREATE_TOPICS, FIND_COORDINATOR, FIND_COORDINATOR, METADATA, METADATA, METADATA]
    assert [b"first" in asked for asked in received[3:]] == [True, True, False]


def test_a_case_that_needs_nothing_prepares_nothing() -> None:
    assert "= prepare(where" not in script_of(asks("mine"))
    assert script_of(asks(TOPIC)).count("= prepare(where") == 1


def test_a_script_without_its_topic_can_t_tell(tmp_path: Path) -> None:
    text = script_of(asks(TOPIC), shown=criterion("closing", ("Metadata", "closed")))
    broker = Mortal(lambda asked: False)
    topic = {"error_code": 0, "name": TOPIC, "partitions": []}
    broker.answers = {METADATA: response(METADATA, 4, {"brokers": [], "topics": [topic]})}
    assert told(text, broker.address, tmp_path) == (0, "not shown"), "Metadata makes the topic"
    text = text.replace("AGAIN = 10.0", "AGAIN = 0.0")
    broker.answers = {
        METADATA: response(METADATA, 4, {"brokers": [], "topics": [{**topic, "error_code": 3}]})
    }
    missing = f"can't tell: the topic {TOPIC} is missing"
    assert told(text, broker.address, tmp_path) == (3, missing)
    broker.die()


def test_an_error_before_the_case_that_passes_is_asked_away(tmp_path: Path) -> None:
    answered: list[bytes] = []

    def first(asked: bytes) -> bool:
        answered.extend([asked] if asked.startswith(METADATA.to_bytes(2) + bytes((0, 1))) else ())
        broker.answers = {METADATA: metadata(5 if len(answered) == 1 else 0)}
        return False

    case, broker = asks(), Mortal(first)
    broker.answers = {METADATA: metadata(0)}
    text = script_of(case, before(case)).replace("WAIT = 5.0", "WAIT = 1.0")
    done = run(text, tmp_path, "{}:{}".format(*broker.address))
    last = done.stdout.splitlines()[-1]
    assert (last, done.stderr) == ("can't tell: at the top stands what shows it", "")
    assert len(answered) == 3
    broker.die()


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
    text = script("fine", case, record_session(kafka.service.address, offered, case, 1))
    host, port = kafka.service.address
    for _ in range(2):
        received, _ = ran(text, f"{host}:{port}", tmp_path)
        found = decode_frame(answer(received), "response", key=key, version=seed.version).body
        codes = found["responses"][0]["partition_responses"][0] if key == PRODUCE else found
        assert codes["error_code"] == 0


def _metadata(code: int, name: str = "t") -> bytes:
    topic = {"error_code": code, "name": name, "is_internal": False, "partitions": []}
    return response(METADATA, 1, {"brokers": [], "controller_id": -1, "topics": [topic]})


ASKED = request(METADATA, 1, {"topics": [{"name": "t"}]})


SEEN = observed(ASKED, replies=(_metadata(-1),))


def _path(seen: Observation) -> str:
    (verdict,) = SERVER_ERROR.judge(seen)
    return verdict.behaviour[1]


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (_metadata(-1), 1, "shown"),
        (_metadata(3), 0, "not shown"),
        (_metadata(-1, "longer"), 3, "can't tell: at the top stands what shows it"),
    ],
)
def test_an_answer_of_the_size_that_was_seen_shows_it(
    answer: bytes, code: int, said: str, tmp_path: Path
) -> None:
    shown = server_error(SEEN, _path(SEEN))
    assert shown is not None
    text = script("it", SEEN.case, SessionRecording((), SEEN.sent), None, shown)
    broker = Mortal(lambda asked: False)
    broker.answers = {METADATA: answer}
    assert told(text, broker.address, tmp_path) == (code, said)
    broker.die()


def test_an_answer_that_did_not_come_has_no_place() -> None:
    assert server_error(observed(ASKED), "topics.error_code") is None


def test_behind_fields_of_fixed_size_the_size_does_not_matter() -> None:
    asked = request(
        HEARTBEAT,
        4,
        {"group_id": "g", "generation_id": 1, "member_id": "m", "group_instance_id": None},
    )
    seen = observed(
        asked, replies=(response(HEARTBEAT, 4, {"throttle_time_ms": 0, "error_code": -1}),)
    )
    shown = server_error(seen, _path(seen))
    assert shown is not None
    assert shown.code == "minus_one(received, 0, 9, None)"
    assert "at byte 9" in shown.description
