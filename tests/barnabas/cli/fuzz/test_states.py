"""`barnabas fuzz states`, on librdkafka's mock brokers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from barnabas.cli.fuzz.options import StatesOptions
from barnabas.cli.fuzz.states import fuzz_states
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states import learner as learning
from barnabas.fuzz.states.conversation import Learnable
from barnabas.fuzz.states.machine import Machine
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, MISUSE, Trouble


def states(target: str, alphabets: list[str], **options: Any) -> int:
    """Learn alphabets of a target; the exit code."""
    return fuzz_states(StatesOptions(target=target, alphabets=alphabets, **options))


def test_what_was_learned_and_what_is_wrong_is_a_line_of_json_for_each_alphabet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert states("librdkafka", ["fetch-session", "fetch-session"], as_json=True) == FINDINGS
    (line,) = capsys.readouterr().out.splitlines()
    result = json.loads(line)
    (machine,) = result["machines"]
    (state,) = machine["states"]  # they take any session
    assert (result["alphabet"], machine["whole"], state["access"]) == ("fetch-session", True, [])
    assert state["steps"]["Fetch of a later epoch"] == {"output": "NONE", "next": 0}
    assert {
        "about": "librdkafka's mock: Fetch of a later epoch in state IN_SESSION is accepted",
        "cause": "librdkafka's mock: Fetch of a later epoch in state IN_SESSION is accepted",
        "inputs": ["Fetch that opens", "Fetch of a later epoch"],
    } in result["findings"]


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    ("other", "code"), [("transaction", COULD_NOT_RUN), ("fetch-session", FINDINGS)]
)
def test_the_others_are_tried_where_an_alphabet_can_not_be_learned(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    other: str,
    code: int,
    as_json: bool,
) -> None:
    right = learning.learn

    def learn(name: str, conversation: Learnable, *given: Any, **more: Any) -> Machine:
        if conversation.alphabet.name == "classic-group":
            raise CannotRun("the broker answered in two ways")
        return right(name, conversation, *given, **more)

    monkeypatch.setattr(learning, "learn", learn)
    names = ["classic-group", other]
    assert states("librdkafka", names, walks=1, as_json=as_json) == code
    output = capsys.readouterr()
    assert "classic-group was not learned: the broker answered in two ways" in output.err
    if as_json:
        failed, learned = map(json.loads, output.out.splitlines())
        assert (failed["alphabet"], failed["machines"]) == ("classic-group", [])
        assert failed["problem"] == "the broker answered in two ways"
        assert (learned["alphabet"], learned["problem"]) == (other, None)
    else:
        assert output.out.startswith(f"{other}  librdkafka's mock: 1 state")


def test_a_broker_does_not_differ_from_itself(capsys: pytest.CaptureFixture[str]) -> None:
    states("librdkafka vs librdkafka", ["fetch-session"])
    output = capsys.readouterr().out
    assert output.count("librdkafka's mock: 1 state (") == 2
    assert " from librdkafka's mock" not in output


@pytest.mark.needs_apache("4.3.1")
def test_a_protocol_that_is_not_enabled_is_said_to_be_off_and_not_to_be_fine(
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = "apache:4.3.1?group.coordinator.rebalance.protocols=classic"
    assert states(target, ["consumer-group"], walks=1) == FINE
    output = capsys.readouterr().out
    assert "ConsumerGroupHeartbeat" in output
    assert "is switched off (UNSUPPORTED_VERSION)" in output or "not offered" in output
    assert "nothing wrong" not in output
    states(target, ["consumer-group"], walks=1, as_json=True)
    result = json.loads(capsys.readouterr().out)
    off = [name for machine in result["machines"] for name in machine["switched_off"]]
    assert result["missing"] + off == ["ConsumerGroupHeartbeat"]


def test_an_alphabet_that_there_is_not() -> None:
    with pytest.raises(Trouble, match=r"did you mean 'fetch-session'\?") as problem:
        states("librdkafka", ["fetch-sesion"])
    assert problem.value.code == MISUSE
