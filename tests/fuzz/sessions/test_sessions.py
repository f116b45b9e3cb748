"""Sessions without a broker: what they ask, and what they make of the answers."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from barnabas.fuzz.sessions.bodies import MEMBER_ID
from barnabas.fuzz.sessions.live_values import LIVE
from barnabas.fuzz.sessions.members import JOINED
from barnabas.fuzz.sessions.partial_sessions import apis_of, without
from barnabas.fuzz.sessions.registry import SESSIONS, named, seeds
from barnabas.fuzz.sessions.session import TOPIC, Request, Session, Stage, Steps, Stuck, Unoffered
from barnabas.specs.keys import JOIN_GROUP, METADATA
from barnabas.specs.registry import NAMES, api

LOGGED_IN = [session for session in SESSIONS if not session.before_login]

TOPIC_ID = uuid.UUID(int=7)
ANSWERS: dict[str, Any] = {
    "topics": [{"error_code": 0, "name": TOPIC, "topic_id": TOPIC_ID}],
    "error_code": 0,
    "session_id": 5,
    "producer_id": 4000,
    "producer_epoch": 1,
    "member_id": MEMBER_ID,
    "member_epoch": 3,
    "generation_id": 2,
    "responses": [],
}


def driven(
    steps: Steps, answer: Callable[[Request], Mapping[str, Any]]
) -> tuple[list[Request], Any]:
    """What a session asks, each answered so, and its live values."""
    asked = []
    try:
        asked.append(next(steps))
        while True:
            asked.append(steps.send(answer(asked[-1])))
    except StopIteration as end:
        return asked, end.value


def played(steps: Steps, answers: dict[str, Any] = ANSWERS) -> tuple[list[int], Any]:
    """The keys that a session asks, and its live values, if all answers are these."""
    asked, live = driven(steps, lambda _: answers)
    for ask in asked:
        api(ask.key).request.codec(ask.version).encode(ask.body)
    return [ask.key for ask in asked], live


@pytest.mark.parametrize("session", LOGGED_IN, ids=lambda one: one.name)
def test_a_session_asks_valid_requests_and_knows_live_values(session: Session) -> None:
    asked, live = played(session.run(Stage({}, 12)))
    assert asked[0] == METADATA
    assert set(session.needs) <= set(asked)
    assert set(live) <= LIVE
    assert live["topic_id"] == TOPIC_ID.bytes


@pytest.mark.parametrize("session", LOGGED_IN, ids=lambda one: one.name)
def test_two_sessions_have_no_group_or_transaction_in_common(session: Session) -> None:
    _, one = played(session.run(Stage({}, 1)))
    _, other = played(session.run(Stage({}, 2)))
    for name in ("group_id", "transactional_id"):
        assert name not in one or one[name] != other[name]
        assert len(str(one.get(name))) == len(str(other.get(name)))


@pytest.mark.parametrize("session", LOGGED_IN, ids=lambda one: one.name)
def test_a_broker_without_the_topic_ends_a_session(session: Session) -> None:
    with pytest.raises(Stuck, match=TOPIC):
        played(session.run(Stage({}, 1)), {**ANSWERS, "topics": []})


def test_a_group_that_asks_for_a_member_id_gets_it_back() -> None:
    steps = JOINED.run(Stage({}, 1))
    next(steps)
    steps.send(ANSWERS)
    ask = steps.send({**ANSWERS, "error_code": 79, "member_id": "given"})
    assert (ask.key, ask.body["member_id"]) == (JOIN_GROUP, "given")


def test_a_refused_step_says_which_and_why() -> None:
    steps = JOINED.run(Stage({}, 1))
    next(steps)
    steps.send(ANSWERS)
    with pytest.raises(Stuck, match=r"JoinGroup v9 .* INVALID_GROUP_ID"):
        steps.send({**ANSWERS, "error_code": 24})


def test_versions_are_those_that_both_sides_know() -> None:
    stage = Stage({METADATA: (2, 5)})
    assert stage.version(METADATA) == 5
    assert stage.version(METADATA, 3) == 3
    with pytest.raises(Unoffered, match="JoinGroup"):
        stage.version(JOIN_GROUP)
    with pytest.raises(Unoffered, match="from version 2"):
        stage.version(METADATA, 1)


def drive(session: Session, answers: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], Any]:
    """The APIs that it asks, each answered by name, and what it knows in the end."""
    found, values = driven(session.run(Stage({}, 3)), lambda ask: answers[NAMES[ask.key]])
    return [NAMES[ask.key] for ask in found], values


def test_a_stranger_joins_a_group_in_any_version_with_a_timeout_that_ends_soon() -> None:
    session = named("static-absent")
    assert session is not None
    assert session.body(JOIN_GROUP, 0) is None
    for version in range(1, api(JOIN_GROUP).versions[1] + 1):
        body = session.body(JOIN_GROUP, version)
        assert body is not None
        assert (body["member_id"], body["rebalance_timeout_ms"]) == ("", 100)
    offered = {seed.version for seed in seeds(None, [session]) if seed.key == JOIN_GROUP}
    assert offered == set(range(1, api(JOIN_GROUP).versions[1] + 1))


def test_what_is_left_out_is_not_asked_and_the_others_are() -> None:
    session = named("transaction without AddPartitionsToTxn, Metadata")
    assert session is not None
    answer = {"error_code": 0, "producer_id": 77, "producer_epoch": 5}
    names, values = drive(session, {"InitProducerId": answer})
    assert names == ["InitProducerId"]
    assert (values["producer_id"], values["producer_epoch"]) == (77, 5)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.name)
def test_every_session_comes_to_its_end_without_all_of_its_steps(session: Session) -> None:
    names, values = drive(without(session, apis_of(session)), {})
    assert names == []
    assert bool(values) != session.before_login  # of a login nothing is known that was not asked
