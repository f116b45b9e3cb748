from __future__ import annotations

import socket

import pytest

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states.conversation import SILENCES, Conversation
from barnabas.fuzz.states.registry import ALPHABETS
from barnabas.fuzz.targets.address import Address, address
from barnabas.fuzz.targets.embedded import embedded
from barnabas.fuzz.targets.prober import Prober
from barnabas.harness import Harness
from barnabas.proxy.scenario.file import loads

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


@pytest.mark.slow("an embedded cluster, and a dozen answers that do not come")
def test_who_does_not_answer_is_not_waited_for_thousands_of_times() -> None:
    with embedded() as cluster:
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
                expected = f"waited {SILENCES} times .* Heartbeat after OffsetCommit, Heartbeat$"
                with pytest.raises(CannotRun, match=expected):
                    said.say("Heartbeat")
    assert set(heard) == {"unanswered: no answer within 1 s"}
