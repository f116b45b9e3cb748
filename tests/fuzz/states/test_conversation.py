from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

import pytest

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states import conversation as conversations
from barnabas.fuzz.states.alphabet import UNSENT
from barnabas.fuzz.states.conversation import INCOMPLETE, SILENCES, Conversation
from barnabas.fuzz.states.deviations import deviations_of
from barnabas.fuzz.states.machine import Machine, Step
from barnabas.fuzz.states.registry import ALPHABETS
from barnabas.fuzz.targets.address import Address, address
from barnabas.fuzz.targets.embedded import librdkafka
from barnabas.fuzz.targets.prober import Prober
from barnabas.harness import Harness
from barnabas.proxy.scenario.file import loads
from barnabas.specs import Frame, encode_frame, keys

BY_NAME = {one.name: one for one in ALPHABETS}

MUTE = loads("""
version: 1
rules: [{name: mute, match: {api: Heartbeat, direction: request}, do: {drop: {}}}]
""")


def nobodys(alphabet: str) -> Conversation:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
    prober = Prober()
    prober.aim(address)
    return Conversation(prober, BY_NAME[alphabet], {}, "mine")


def test_a_broker_that_is_gone_is_no_answer() -> None:
    said = nobodys("classic-group")
    said.restart()
    expected = "no longer serves: .*ConnectionRefusedError; its requests were DescribeGroups$"
    with pytest.raises(CannotRun, match=expected):
        said.say("DescribeGroups")


class Scripted(Prober):
    """Gives every request of an API the same response."""

    def __init__(self, answers: Mapping[int, Mapping[str, Any]]) -> None:
        super().__init__()
        self._answers = answers

    def ask(self, key: int, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        encode_frame(
            Frame("request", key, version, {"correlation_id": 1, "client_id": ""}, dict(body))
        )
        return dict(self._answers[key])


def scripted(answers: Mapping[int, Mapping[str, Any]]) -> Conversation:
    conversation = Conversation(Scripted(answers), BY_NAME["classic-group"], {}, "mine")
    conversation.restart()
    return conversation


COMMITTED = {"topics": [], "throttle_time_ms": 0}


def test_an_error_that_should_pass_and_lasts_ends_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "PAUSE", 0.001)
    monkeypatch.setattr(conversations, "PATIENCE", 0.002)
    said = scripted({keys.HEARTBEAT: {"error_code": 16}})
    for _ in range(SILENCES - 1):
        assert said.say("Heartbeat") == "NOT_COORDINATOR"
    said.restart()
    expected = f"^waited {SILENCES} times in vain, at last for Heartbeat after nothing: NOT_"
    with pytest.raises(CannotRun, match=expected):
        said.say("Heartbeat")


@pytest.mark.parametrize("groups", [[], None, [{}]])
def test_a_response_that_lacks_what_was_asked_for_is_an_output(groups: Any) -> None:
    said = scripted({keys.OFFSET_COMMIT: COMMITTED, keys.DESCRIBE_GROUPS: {"groups": groups}})
    assert said.say("DescribeGroups") == INCOMPLETE
    machine = Machine("it", ((),), ({"DescribeGroups": Step(INCOMPLETE, 0)},), True, 1)
    alphabet = BY_NAME["classic-group"]
    alphabet = alphabet._replace(inputs=alphabet.inputs[-1:])
    (wrong,) = deviations_of(alphabet, machine)
    assert wrong.description == "it: DescribeGroups: incomplete response"


def test_what_a_response_left_out_can_not_be_sent() -> None:
    joined = {"error_code": 0, "member_id": None, "generation_id": 1}
    said = scripted({keys.JOIN_GROUP: joined, keys.HEARTBEAT: {"error_code": 0}})
    assert said.say("JoinGroup") == "NONE"
    assert said.say("Heartbeat") == UNSENT


@pytest.mark.slow("librdkafka's mock, and a dozen answers that do not come")
def test_who_does_not_answer_is_not_waited_for_thousands_of_times() -> None:
    with librdkafka() as cluster:
        host, port = cluster.service.address
        with Harness(f"{host}:{port}", scenario=MUTE) as proxy:
            where, _, through = proxy.bootstrap.rpartition(":")
            with address(Address(where, int(through))) as target:
                offered = target.prober.offered()
                said = Conversation(target.prober, BY_NAME["classic-group"], offered, "x")
                target.prober.timeout = 1.0
                heard = []
                for _ in range(SILENCES - 1):
                    said.restart()
                    said.say("OffsetCommit")
                    heard.append(said.say("Heartbeat"))
                expected = f"waited {SILENCES} times in vain, .* Heartbeat after OffsetCommit, Heartbeat: un"
                with pytest.raises(CannotRun, match=expected):
                    said.say("Heartbeat")
    assert set(heard) == {"unanswered: no answer within 1 s"}
