"""Clients of the tests' own on the steered broker: what is right is learned, and planted bugs are found."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

import pytest

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states.clients.alphabets import MEMBER, PRODUCER, ClientAlphabet
from barnabas.fuzz.states.clients.conversation import ENDED, ClientConversation
from barnabas.fuzz.states.clients.judging import doubts, judged, word
from barnabas.fuzz.states.judging import Wrong, compared, shown
from barnabas.fuzz.states.learning import learn
from barnabas.fuzz.states.machine import Machine
from barnabas.peers.clients.client import Client, Program

LIVING = Path(__file__).with_name("living_client.py")

pytestmark = pytest.mark.slow("sessions of a client, some hundred of them")


@contextmanager
def living(mode: str, alphabet: ClientAlphabet) -> Iterator[ClientConversation]:
    line = [sys.executable, str(LIVING), *filter(None, [mode])]
    with ClientConversation(Client("own", mode or "right", lambda: Program(line)), alphabet) as it:
        yield it


def learned(it: ClientConversation) -> Machine:
    pytest.importorskip("aalpy")
    doubted = partial(doubts, it.alphabet)
    return learn(it.name, it, Random(1), doubted=doubted, walks=3, length=4)


def test_a_member_is_followed_through_a_rebalance_and_the_loss_of_its_id() -> None:
    with living("", MEMBER) as it:
        it.anew()
        said = [it.say(one) for one in ("NONE", "NONE", "NONE", "REBALANCE_IN_PROGRESS")]
        assert said == ["SyncGroup", "Heartbeat", "Heartbeat", "JoinGroup with its id"]
        assert it.say("UNKNOWN_MEMBER_ID") == "JoinGroup without an id"
        it.close()
        it.anew()  # nothing is left of the session before
        assert it.say("NONE") == "SyncGroup"
        it.close()


def test_what_came_behind_a_request_that_waits_is_answered_behind_it() -> None:
    with living("ahead", MEMBER) as it:
        it.anew()
        assert [it.say("NONE") for _ in range(3)] == ["SyncGroup", "Heartbeat", "Heartbeat"]
        it.close()


def test_who_has_ended_stays_so_until_the_next_session() -> None:
    with living("hasty", MEMBER) as it:
        it.anew()
        assert it.say("UNKNOWN_MEMBER_ID") == "raises GaveUp"
        assert it.say("NONE") == ENDED
        it.close()
        it.anew()
        assert it.say("NONE") == "SyncGroup"
        it.close()


@pytest.mark.parametrize("alphabet", [MEMBER, PRODUCER])
def test_nothing_is_wrong_with_who_has_no_bug(alphabet: ClientAlphabet) -> None:
    with living("", alphabet) as it:
        machine = learned(it)
    assert list(judged(alphabet, machine)) == []
    assert len(machine.access) > 2


LOST = "JoinGroup with an id that it lost behind UNKNOWN_MEMBER_ID to SyncGroup: it is over"


@pytest.mark.parametrize(
    ("mode", "alphabet", "about"),
    [
        ("keeping", MEMBER, LOST),
        ("late", MEMBER, "Heartbeat of an old generation behind NONE to JoinGroup"),
        ("unfenced", PRODUCER, "behind PRODUCER_FENCED to Produce: nothing may follow"),
    ],
)
def test_a_planted_bug_is_found(mode: str, alphabet: ClientAlphabet, about: str) -> None:
    with living(mode, alphabet) as it:
        found = list(judged(alphabet, learned(it)))
    assert any(about in one.about for one in found)
    if about == LOST:
        assert Wrong(f"own keeping: {LOST}", ("NONE", "UNKNOWN_MEMBER_ID")) in found


def test_who_gives_up_where_it_could_go_on_is_found_and_differs_from_who_goes_on() -> None:
    with living("hasty", MEMBER) as hasty, living("", MEMBER) as right:
        machines = [learned(hasty), learned(right)]
        assert any(
            one.about.endswith("behind REBALANCE_IN_PROGRESS to Heartbeat: it can go on by itself")
            for one in judged(MEMBER, machines[0])
        )
        differences = [*compared(machines[0], machines[1], word)]
        assert differences
        assert all(shown(one, [hasty, right], word) for one in differences)


def test_who_asks_for_nothing_has_no_machine() -> None:
    with living("mute", MEMBER) as it, pytest.raises(CannotRun, match="no classic-group"):
        it.anew()
