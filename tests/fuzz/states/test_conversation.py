from __future__ import annotations

import socket

import pytest

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states.alphabet import UNSENT
from barnabas.fuzz.states.conversation import Conversation
from barnabas.fuzz.states.registry import ALPHABETS
from barnabas.fuzz.targets.probing import Prober

BY_NAME = {one.name: one for one in ALPHABETS}


def nobodys(alphabet: str) -> Conversation:
    """With a broker that is gone."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
    prober = Prober()
    prober.aim(address)
    return Conversation(prober, BY_NAME[alphabet], {}, "mine")


def test_a_broker_that_is_gone_is_no_answer() -> None:
    said = nobodys("classic-group")
    said.anew()
    expected = "no longer serves: .*ConnectionRefusedError; it was asked DescribeGroups$"
    with pytest.raises(CannotRun, match=expected):
        said.say("DescribeGroups")


def test_what_can_not_be_sent_yet_is_not() -> None:
    said = nobodys("transaction")
    assert said.say("EndTxn of the last epoch") == UNSENT
    assert said.requests == 0
