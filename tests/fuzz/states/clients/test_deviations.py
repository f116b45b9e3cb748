"""Machines of clients, written by hand: of one that does what is right nothing is wrong, of others it is."""

from __future__ import annotations

import pytest

from barnabas.fuzz.states.clients.alphabets import MEMBER, PRODUCER, ClientAlphabet
from barnabas.fuzz.states.clients.deviations import deviations_of, word
from barnabas.fuzz.states.deviations import differences_of
from barnabas.fuzz.states.machine import Machine, Step

JOINING: dict[str, Step] = {"NONE": Step("SyncGroup", 1)}
SYNCING = {"NONE": Step("Heartbeat", 2), "UNKNOWN_MEMBER_ID": Step("JoinGroup without an id", 0)}
STABLE = {"NONE": Step("Heartbeat", 2), "REBALANCE_IN_PROGRESS": Step("JoinGroup with its id", 0)}
BEGINNING = {"NONE": Step("AddPartitionsToTxn", 1)}
ADDING = {"NONE": Step("Produce", 2)}
PRODUCING = {"NONE": Step("EndTxn that commits", 0), "PRODUCER_FENCED": Step("raises Fenced", 0)}
RIGHT = {MEMBER.name: (JOINING, SYNCING, STABLE), PRODUCER.name: (BEGINNING, ADDING, PRODUCING)}


def machine(alphabet: ClientAlphabet, state: int = 0, **changed: Step) -> Machine:
    """The machine of a client that does what is right, but for these steps of a state."""
    steps = [dict(one) for one in RIGHT[alphabet.name]]
    steps[state] |= changed
    return Machine("own", ((), ("NONE",), ("NONE", "NONE")), tuple(steps), True, 0)


@pytest.mark.parametrize("alphabet", [MEMBER, PRODUCER])
def test_nothing_is_wrong_with_who_has_no_bug(alphabet: ClientAlphabet) -> None:
    assert list(deviations_of(alphabet, machine(alphabet))) == []


@pytest.mark.parametrize(
    ("alphabet", "state", "error", "output", "why"),
    [
        (MEMBER, 1, "UNKNOWN_MEMBER_ID", "JoinGroup with an id that it lost", "to SyncGroup: it is over"),
        (MEMBER, 0, "NONE", "Heartbeat of an old generation", "to JoinGroup: it is over"),
        (MEMBER, 1, "UNKNOWN_MEMBER_ID", "SyncGroup", "to SyncGroup: not in state UNJOINED"),
        (MEMBER, 2, "REBALANCE_IN_PROGRESS", "raises GaveUp", "to Heartbeat: it can go on by itself"),
        (PRODUCER, 2, "PRODUCER_FENCED", "EndTxn that aborts", "to Produce: nothing may follow"),
    ],
)  # fmt: skip
def test_a_bug_is_told_with_the_way_there(
    alphabet: ClientAlphabet, state: int, error: str, output: str, why: str
) -> None:
    (wrong, *_) = deviations_of(alphabet, machine(alphabet, state, **{error: Step(output, state)}))
    assert wrong.description == f"own: {output} after {error} {why}"
    assert wrong.inputs == (*["NONE"] * state, error)


def test_by_which_exception_a_client_gives_up_is_no_difference() -> None:
    one, other = (machine(MEMBER, 2, NONE=Step(f"raises {name}", 2)) for name in ("A", "B"))
    assert list(differences_of(one, other, word)) == []
    (difference,) = differences_of(one, machine(MEMBER), word)
    assert difference.inputs == ("NONE",) * 3
