"""Each peer gets the fuzzer's frames: a documented error or a closed connection, never a hang or a crash.

The frames are those of a campaign (`barnabas.fuzz.engine.case_maker`) over what peers say to each other,
whatever a step has come to. There are no sockets: what would hang is a loop without end, which a test's time
limit finds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pytest

from barnabas.designs.brokers.listener import Close, Send
from barnabas.designs.central_coordination.peers import settings as central_settings
from barnabas.designs.central_coordination.peers import wire as central
from barnabas.designs.central_coordination.peers.actions import StoreOffsets
from barnabas.designs.central_coordination.peers.consumer import Consumer as CentralConsumer
from barnabas.designs.central_coordination.peers.coordinator import Broker as CentralBroker
from barnabas.designs.consumer_rewrite.peers import settings as rewrite_settings
from barnabas.designs.consumer_rewrite.peers import wire as rewrite
from barnabas.designs.consumer_rewrite.peers.actions import Write
from barnabas.designs.consumer_rewrite.peers.consumer import Consumer as RewriteConsumer
from barnabas.designs.consumer_rewrite.peers.coordinator import Broker as RewriteBroker
from barnabas.designs.consuming.dialer import Connect, Transmit
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.engine.case_maker import Maker
from barnabas.fuzz.mutators.registry import MUTATORS
from barnabas.specs.dialects import dialect
from barnabas.specs.dialects.keys import of_key
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import key_in
from tests.designs.messages import CLUSTER, FOUND, JOINED, OFFSETS, REGISTER, REWRITE_REQUESTS
from tests.designs.pipelined_producer.peers.stage import Cluster, Stage, Wire

CASES: Final = 400
"""Of each kind of frame, spread over all there is to try."""

CENTRAL, REWRITE = dialect("central-coordination"), dialect("rewrite-0.8.2")

CENTRAL_REQUESTS: Final = (
    ("ClusterMetadata", central.request("ClusterMetadata")),
    ("RegisterConsumer", central.request("RegisterConsumer", REGISTER)),
)
CENTRAL_ANSWERS: Final = (
    ("Ping", central.response("Ping")),
    ("StopFetcher", central.response("StopFetcher", body=OFFSETS)),
    ("StartFetcher", central.response("StartFetcher")),
)
CENTRAL_ASKED: Final = (
    ("Ping", central.request("Ping")),
    ("StopFetcher", central.request("StopFetcher")),
    ("StartFetcher", central.request("StartFetcher", OFFSETS)),
)

REWRITE_ASKED: Final = tuple(
    (name, rewrite.request(name, 1, "me", dict(body))) for name, body in REWRITE_REQUESTS.items()
)


def maker(
    name: str, spoken: Any, direction: Direction, frames: Iterable[tuple[str, bytes]]
) -> Maker:
    """A campaign over frames of a draft, which have their sizes in front."""
    seeds = []
    for api, frame in frames:
        key = key_in(spoken, api)
        version = 1 if api == "OffsetFetch" else 0
        if key > 1 << 16:
            version = of_key(key)[1].version
        seeds.append(Seed(key, version, direction, frame[4:], f"peer:{api}"))
    # splices are made of other messages of the API, which the fuzzer generates of Kafka's own only
    mutators = [mutator for mutator in MUTATORS if mutator.name != "splices"]
    return Maker(name, seeds, mutators)


def cases(made: Maker) -> Iterable[bytes]:
    """The bytes of so many cases, evenly over all there is to try."""
    for number in range(min(CASES, made.strata)):
        yield b"".join(made.case(number * made.strata // min(CASES, made.strata)).chunks)


@pytest.mark.parametrize("joined", [False, True])
def test_the_coordinator_of_the_rewrite(joined: bool) -> None:
    answered = closed = 0
    for data in cases(maker("rewrite", REWRITE, "request", REWRITE_ASKED)):
        one = RewriteBroker(1, rewrite_settings.BrokerSettings(slots=1), new_id=lambda: "x")
        one.topics({"t": 2}, 0)
        one.elected(0)
        one.loaded(0, {}, 0)
        one.connected(1)
        if joined:
            for action in one.receive(1, REWRITE_ASKED[0][1], 0):
                assert isinstance(action, Write)
                one.written("g", 0)
        one.connected(2)
        actions = one.receive(2, data, 1)
        for action in actions:
            if isinstance(action, Write):
                actions += one.written(action.group, 2)
            answered += isinstance(action, Send) and action.connection == 2
            closed += isinstance(action, Close) and action.connection == 2
        while one.wake is not None and one.wake < 100_000:  # sessions end, and nothing is left
            for action in one.tick(one.wake):
                if isinstance(action, Write):
                    one.written(action.group, 100_000)
        one.connected(3)
        find = rewrite.request("ConsumerMetadata", 1, "me", {"group_id": "g"})
        (reply,) = one.receive(3, find, 200_000)
        assert isinstance(reply, Send)
        _, body = rewrite.read_response(reply.data[4:], "ConsumerMetadata")
        assert rewrite.error_name(body["error_code"]) in rewrite.CODES
    assert answered > 20
    assert closed > 20


@pytest.mark.parametrize("name", ["ConsumerMetadata", "JoinGroup", "OffsetFetch", "Heartbeat"])
def test_a_consumer_of_the_rewrite(name: str) -> None:
    """All goes well up to an answer of this API, which is the fuzzer's."""
    answers: dict[str, dict[str, Any]] = {
        "ConsumerMetadata": FOUND,
        "JoinGroup": JOINED,
        "OffsetFetch": {"topics": []},
        "Heartbeat": {"error_code": 0},
    }
    made = maker(name, REWRITE, "response", [(name, rewrite.response(name, 0, answers[name]))])
    settings = rewrite_settings.ConsumerSettings("g", (("h", 1),), topics=("t",))
    for data in cases(made):
        one = RewriteConsumer(settings)
        waiting, planted, now = one.start(0), False, 0
        for _ in range(60):
            for action in waiting:
                if isinstance(action, Connect):
                    waiting = one.connected(now)
                    break
                if isinstance(action, Transmit):
                    number, api, _ = rewrite.read_request(action.data[4:])
                    if api not in answers:  # it commits, or leaves
                        continue
                    reply = rewrite.response(api, number, answers[api])
                    if api == name and not planted:
                        planted = True
                        if data[4:8] == bytes(4):  # unless the case is about it
                            data = data[:4] + number.to_bytes(4) + data[8:]
                        reply = data
                    waiting = one.receive(reply, now)
                    break
            else:
                if one.wake is None:
                    break
                now = max(one.wake, now)
                waiting = one.poll(now)
        assert planted
        assert one.failure is not None or one.wake is not None


@pytest.mark.parametrize("registered", [False, True])
def test_the_central_coordinator(registered: bool) -> None:
    made = maker("asks", CENTRAL, "request", CENTRAL_REQUESTS)
    if registered:
        made = maker("answers", CENTRAL, "response", CENTRAL_ANSWERS)
    told = 0
    for data in cases(made):
        one = CentralBroker(1, central_settings.BrokerSettings(min_session_timeout_ms=100))
        one.cluster({1: ("h", 1)}, 1)
        one.elected({"t": ("0-0", "0-1")}, 0)
        one.connected(1)
        if registered:
            one.receive(1, CENTRAL_REQUESTS[1][1], 0)
            one.tick(300)  # a ping is on its way, too
        actions = one.receive(1, data, 301)
        told += any(isinstance(action, Send | Close | StoreOffsets) for action in actions)
        while one.wake is not None and one.wake < 100_000:
            one.tick(one.wake)
        one.connected(2)
        (reply,) = one.receive(2, CENTRAL_REQUESTS[0][1], 200_000)
        assert isinstance(reply, Send)
        assert central.read_response(reply.data[4:], "ClusterMetadata") == ("NONE", CLUSTER)
    assert told > 20


@pytest.mark.parametrize("step", ["consulting", "registering", "registered"])
def test_a_consumer_of_central_coordination(step: str) -> None:
    if step == "registered":
        made = maker(step, CENTRAL, "request", CENTRAL_ASKED)
    else:
        api = "ClusterMetadata" if step == "consulting" else "RegisterConsumer"
        valid = central.response(api, body=CLUSTER if step == "consulting" else None)
        made = maker(step, CENTRAL, "response", [(api, valid)])
    for data in cases(made):
        one = CentralConsumer(central_settings.ConsumerSettings("g", "c", (("h", 1),)))
        one.start(0)
        one.connected(0)
        if step != "consulting":
            one.receive(central.response("ClusterMetadata", body=CLUSTER), 1)
            one.connected(1)
        if step == "registered":
            one.receive(central.response("RegisterConsumer"), 2)
        for action in one.receive(data, 3):
            if isinstance(action, Transmit) and step == "registered":
                for asked in ("StopFetcher", "StartFetcher", "Ping"):
                    try:
                        central.read_response(action.data[4:], asked)
                        break
                    except Malformed:
                        continue
                else:
                    raise AssertionError("no answer of this protocol")
        for _ in range(20):  # it goes on trying
            assert one.wake is not None
            for action in one.tick(one.wake):
                if isinstance(action, Connect):
                    one.connected(one.wake)


def damaged(name: str, number: int, key: int, version: int, valid: bytes) -> bytes:
    """What the fuzzer makes of a valid response."""
    made = Maker(name, [Seed(key, version, "response", valid, "peer:live")])
    return b"".join(made.case(SeededRandom(name, number).below(made.strata)).chunks)


def test_the_pipelined_producer(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of a broker's first answers is the fuzzer's; all messages are reported, once."""
    limits = Settings(answer_timeout_ms=500, expiry_ms=2000, retries=2, retry_backoff_ms=50)
    answer, count = Wire._answer, 0

    def planted(wire: Wire, request: Any, body: dict[str, Any]) -> None:
        nonlocal count
        at = len(wire.answers)
        answer(wire, request, body)
        if count == number % 5:
            valid = bytes(wire.answers[at + 4 :])
            wire.answers[at:] = damaged("producer", number, request.key, request.version, valid)
        count += 1

    monkeypatch.setattr(Wire, "_answer", planted)
    for number in range(60):  # noqa: B007 - `planted` reads it
        count = 0
        stage = Stage(limits, Cluster(2, {"t": 2}))
        stage.send_numbered(4)
        for _ in range(30):
            for wire in stage.wires.values():
                wire.work()
            stage.turn()
        stage.wait(6000)
        assert len(stage.outcomes) == 4
        assert stage.intake.outstanding == 0
