from __future__ import annotations

import pytest

from barnabas.fuzz.states.alphabet import UNSENT, Alphabet, Input
from barnabas.fuzz.states.deviations import Deviation, captions, deviations_of, differences_of
from barnabas.fuzz.states.machine import Machine, Step
from barnabas.fuzz.states.registry import ALPHABETS
from barnabas.specs.groups import NONE, OTHER, Table

LAMP = Table(
    "a lamp",
    (("off", ""), ("on", "")),
    (("off", "light", NONE, "on"), ("on", "light", OTHER, "on"), ("on", "burn", NONE, "on")),
)
ALPHABET = Alphabet(
    "lamp",
    "a lamp",
    (),
    lambda name: {},
    (
        Input("light", 0, lambda _: {}, event="light"),
        Input("burn", 0, lambda _: {}, event="burn"),
        Input("look", 0, lambda _: {}),
    ),
    LAMP,
)
OFF = {"light": Step(NONE, 1), "burn": Step("UNKNOWN_MEMBER_ID", 0), "look": Step(NONE, 0)}
ON = {
    "light": Step("REBALANCE_IN_PROGRESS", 1),
    "burn": Step("NONE, hot", 1),
    "look": Step(NONE, 1),
}


def lamp(name: str = "lamp", **changes: dict[str, Step]) -> Machine:
    states = ({**OFF, **changes.get("off", {})}, {**ON, **changes.get("on", {})})
    return Machine(name, ((), ("light",)), states, True, 0)


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (lamp(), []),
        (lamp(off={"burn": Step(NONE, 0)}), [Deviation("lamp: burn in state off is accepted", ("burn",))]),
        (
            lamp(on={"light": Step(NONE, 0)}),
            [Deviation("lamp: light in state on is accepted", ("light", "light"))],
        ),
        (lamp(on={"burn": Step("UNKNOWN_MEMBER_ID", 1)}), []),
        (
            lamp(on={"look": Step("UNKNOWN_SERVER_ERROR", 1)}),
            [Deviation("lamp: look: UNKNOWN_SERVER_ERROR", ("light", "look"))],
        ),
        (
            lamp(off={"look": Step("unanswered: the connection failed", 0)}),
            [Deviation("lamp: look: unanswered: the connection failed", ("look",))],
        ),
        (lamp(off={"look": Step(UNSENT, 0)}), []),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_the_way_there(
    machine: Machine, expected: list[Deviation]
) -> None:
    assert list(deviations_of(ALPHABET, machine)) == expected


def test_states_are_described_by_the_table_and_by_the_broker() -> None:
    describing = ALPHABET._replace(describes="look")
    machine = lamp(on={"look": Step("NONE, bright; warm", 1)})
    assert captions(describing, machine) == [["off", NONE], ["on", "bright", "warm"]]
    assert captions(ALPHABET, machine) == [["off"], ["on"]]


def test_a_state_that_is_two_states_of_the_table_has_both_names() -> None:
    assert captions(ALPHABET, lamp(on={"burn": Step(NONE, 0)})) == [["off or on"], ["on"]]


def test_what_follows_a_deviation_is_not_judged() -> None:
    """The lamp burns without light, and then goes on as if it were on."""
    machine = lamp(off={"burn": Step(NONE, 1), "light": Step("UNKNOWN_MEMBER_ID", 0)})
    (wrong,) = deviations_of(ALPHABET, machine)
    assert wrong.inputs == ("burn",)
    assert captions(ALPHABET, machine) == [["off"], ["after a deviation"]]


def test_a_difference_is_told_once_and_what_is_behind_it_is_not() -> None:
    other = lamp("other", on={"burn": Step("NONE, cold", 0)})
    words = "NONE, hot from lamp, NONE, cold from other"
    assert list(differences_of(lamp(), other)) == [
        Deviation(f"burn: {words}", ("light", "burn"), words)
    ]


BY_NAME = {one.name: one for one in ALPHABETS}


@pytest.mark.parametrize(
    ("alphabet", "state", "name"),
    [
        ("classic-group", "STABLE", "Heartbeat of the last generation"),
        ("classic-group", "STABLE", "OffsetCommit of the last generation"),
        ("classic-group", "STABLE", "OffsetCommit of no member"),
        ("consumer-group", "JOINED", "Heartbeat of the next epoch"),
        ("consumer-group", "JOINED", "OffsetCommit of no member"),
        ("consumer-group", "UNSUBSCRIBED", "OffsetCommit"),
        ("transaction", "IN_TRANSACTION with records", "Produce of the last epoch"),
        ("transaction", "IN_TRANSACTION with both", "EndTxn of the last epoch"),
        ("transaction-v2", "IN_TRANSACTION", "Produce of the next epoch"),
        ("transaction-v2", "IN_TRANSACTION", "EndTxn, commit, of the last epoch"),
        ("transaction-v2", "COMMITTED", "EndTxn, abort, of the last epoch"),
        ("transaction-v2", "COMMITTED", "EndTxn, commit"),
        ("fetch-session", "IN_SESSION", "Fetch of the last epoch"),
        ("fetch-session", "IN_SESSION", "Fetch of another session"),
    ],
)
def test_what_is_too_old_or_nobodys_is_to_be_refused(alphabet: str, state: str, name: str) -> None:
    found = BY_NAME[alphabet]
    (event,) = (one.event for one in found.inputs if one.name == name)
    assert event
    assert state in dict(found.table.states)
    assert found.table.step(state, event, NONE) is None


def test_what_a_broker_offers_too_old_is_named() -> None:
    alphabet = BY_NAME["transaction-v2"]
    offered = dict.fromkeys(alphabet.needs, (0, 11))
    assert alphabet.missing(offered) == ["Produce v12"]
    assert alphabet.within(offered) is None
    assert alphabet.missing(dict.fromkeys(alphabet.needs, (0, 12))) == []
