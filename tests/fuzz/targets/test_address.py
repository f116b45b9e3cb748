"""Brokers that somebody else runs: what ends them is told, and nobody starts them but who runs them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import ENDED_DURING, SET_ASIDE, Death, Observation
from barnabas.fuzz.database.finding import Finding
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.oracles.oracle import case_label
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.report.finding import text
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.service import Elsewhere
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.keys import METADATA
from tests.fuzz.mortal import Mortal
from tests.fuzz.observed import case, request
from tests.proxy.servers import SOON

DIED = ORACLES_BY_NAME["died"]

ASK = request(METADATA, 1, {"topics": []})
KILL = request(METADATA, 1, {"topics": [{"name": "die"}]})


@pytest.fixture
def broker() -> Iterator[Mortal]:
    mortal = Mortal(lambda asked: b"die" in asked)
    yield mortal
    mortal.die()


def aimed(broker: Mortal, connections: int = 1) -> BrokerTarget:
    return BrokerTarget(
        Elsewhere(*broker.address), batch=16, connections=connections, timeout=60, probe_timeout=60
    )


def until_it_ends(target: BrokerTarget, cases: Sequence[Case]) -> list[Observation]:
    results: list[Observation] = []
    with pytest.raises(CannotRun, match=r"no longer serves.*start it again"):
        results.extend(target.run([one._replace(number=n) for n, one in enumerate(cases)]))
    return results


def test_the_one_case_that_was_under_way_has_killed_it(broker: Mortal) -> None:
    with aimed(broker) as target:
        result = until_it_ends(target, [*[case(ASK)] * 5, case(KILL), *[case(ASK)] * 5])
    assert [one.case.number for one in result] == [0, 1, 2, 3, 4, 5]
    assert [len(one.replies) for one in result] == [1, 1, 1, 1, 1, 0]
    assert [one.death for one in result] == [None] * 5 + [Death(None, "")]
    assert [one.message for one in DIED.judge(result[-1])] == [
        "the process ended: its address refuses connections"
    ]
    assert case_label("died", result[-1]) == "case 5"


def test_of_several_under_way_all_are_named(broker: Mortal) -> None:
    parked, killed = threading.Event(), threading.Event()

    def kills(asked: bytes) -> bool:
        if b"park" in asked:
            parked.set()
            killed.wait(SOON)
            return False
        if b"die" in asked:
            parked.wait(SOON)
            broker.die()
            killed.set()
        return False

    broker.kills = kills
    park = request(METADATA, 1, {"topics": [{"name": "park"}]})
    with aimed(broker, connections=2) as target:
        result = until_it_ends(target, [case(one) for one in (ASK, park, KILL, ASK)])
    (blamed,) = (one for one in result if one.death is not None)
    assert case_label("died", blamed) == "one of the cases 1, 2"
    output = text(
        Finding(1, "n", "died", (), "", 1, 2, blamed.case.recipe, blamed, b"", None), "f.db"
    )
    assert "under way, one of these:\n    case 1: Metadata v1" in output


def test_one_case_that_is_asked_for_is_told_without_an_error(broker: Mortal) -> None:
    with aimed(broker) as target:
        (one,) = target.run([case(KILL)])
        assert one.death == Death(None, "")
        broker.start()
        (again,) = target.run([case(ASK)])
    assert len(again.replies) == 1


def test_what_was_not_sent_before_the_last_case_that_was_is_set_aside(broker: Mortal) -> None:
    asked, kill = case(ASK), case(KILL)
    in_session = asked._replace(recipe=asked.recipe._replace(session="joined"))
    cases = [asked, in_session, kill, in_session]  # a connection goes on with what needs no session
    with aimed(broker) as target:
        result = until_it_ends(target, cases)
    reported = [(one.death is not None, (SET_ASIDE, ENDED_DURING) in one.facts) for one in result]
    assert reported == [(False, False), (False, True), (True, False)]


@pytest.mark.parametrize("mechanism", ["", "PLAIN"])
def test_who_wants_something_first_is_asked_about_a_login(broker: Mortal, mechanism: str) -> None:
    broker.answers = {}
    credentials = Credentials(mechanism, "alice", "secret") if mechanism else None
    with pytest.raises(CannotRun) as told:
        BrokerTarget(
            Elsewhere(*broker.address), probe_timeout=60, credentials=credentials
        ).__enter__()
    assert ("does it want a login" in str(told.value)) == (not mechanism)
