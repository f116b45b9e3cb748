"""Sessions against brokers: each leads into its state, and the valid message that follows is answered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.sessions.registry import SESSIONS, seeds
from barnabas.fuzz.sessions.session import Session
from barnabas.fuzz.sessions.steps import error_codes
from barnabas.fuzz.targets.apache import ApacheService
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.embedded import EmbeddedService
from barnabas.fuzz.targets.session_recording import SessionRecording, record_session
from barnabas.specs import decode_frame
from barnabas.specs.error_codes import error_name
from barnabas.specs.registry import NAMES

VERSION = "4.3.1"
LOGGED_IN = [session for session in SESSIONS if not session.before_login]

FENCED = [("AddPartitionsToTxn", "PRODUCER_FENCED"), ("Produce", "INVALID_PRODUCER_EPOCH")]
JOINING = [("JoinGroup", "MEMBER_ID_REQUIRED")]
DISORDER = {
    "transaction-v1-fenced": [("InitProducerId", "CONCURRENT_TRANSACTIONS")],
    "transaction-v1-older": FENCED,
    "transaction-v1-newer": FENCED,
    "transaction-v2-fenced": [("InitProducerId", "CONCURRENT_TRANSACTIONS")],
    "transaction-v2-older": FENCED[1:],
    "transaction-v2-newer": FENCED[1:],
    "downgraded": JOINING * 2,
    "unjoined": [("SyncGroup", "UNKNOWN_MEMBER_ID"), ("Heartbeat", "UNKNOWN_MEMBER_ID")],
    **dict.fromkeys(("joined", "left", "mixed-consumer", "mixed-classic"), JOINING),
}
"""Session -> its steps that Apache Kafka answers with an error."""

STILL_ENDING = (
    "transaction-v1-ended-twice",
    "transaction-v2-ended-twice",
    "transaction-v1-reopened",
    "transaction-v2-reopened",
)
"""Sessions that end a transaction whose markers the broker may still write, or has written."""

ENDING = ("CONCURRENT_TRANSACTIONS", "INVALID_TXN_STATE")


CLASSIC = (
    "joined",
    "mixed-consumer",
    "mixed-classic",
    "downgraded",
    "static-older",
    "static-newer",
    "static-absent",
    "unjoined",
    "left",
)
"""Sessions that librdkafka's mock ends: it closes connections at valid requests of classic groups."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[BrokerTarget]:
    service = ApacheService(ApacheSettings.of(VERSION))
    with BrokerTarget(service, batch=64, connections=8, timeout=10) as target:
        assert target.unprepared == ""
        yield target


def messages(session: Session, target: BrokerTarget) -> list[Case]:
    """Return the valid messages of the newest versions that follow a session, unchanged."""
    valid = seeds(target.connections.offered, [session])
    newest = {seed.key: seed.version for seed in valid}  # they are in order
    return [
        cook(Recipe(seed, (), session.name), number)
        for number, seed in enumerate(valid)
        if seed.version == newest[seed.key]
    ]


def errors(recording: SessionRecording) -> list[tuple[str, str]]:
    """Return the APIs and errors of the steps that a broker answered with an error."""
    return [
        (NAMES[step.key], error_name(code))
        for step in recording.session
        for code in error_codes(
            decode_frame(step.response, "response", key=step.key, version=step.version).body
        )
        if code
    ]


@pytest.mark.needs_apache(VERSION)
@pytest.mark.timeout(300)
@pytest.mark.parametrize("session", LOGGED_IN, ids=lambda session: session.name)
def test_apache_kafka_comes_into_each_state(kafka: BrokerTarget, session: Session) -> None:
    cases = messages(session, kafka)
    assert cases
    offered = kafka.connections.offered
    number = 900_000 + LOGGED_IN.index(session)
    recording = record_session(kafka.service.address, offered, cases[0], number)
    seen = errors(recording)
    if session.name in STILL_ENDING:
        seen = [error for error in seen if error[1] not in ENDING]
    assert seen == DISORDER.get(session.name, [])
    for observation in kafka.run(cases):
        assert "session_failed" not in dict(observation.facts)
        if session.name != "downgraded":  # a member that joins is answered when the others have
            assert len(observation.replies) == 1


def test_the_embedded_cluster_comes_into_the_states_that_it_has() -> None:
    with BrokerTarget(
        EmbeddedService(), batch=16, connections=4, timeout=60, probe_timeout=60
    ) as target:
        failed = {
            session.name: reason
            for session in LOGGED_IN
            for observation in target.run(messages(session, target)[:1])
            if (reason := dict(observation.facts).get("session_failed"))
        }
    no_sessions = dict.fromkeys(("fetching", "fetch-closed"), "no fetch session was given")
    assert failed == {
        **dict.fromkeys(CLASSIC, "the connection ended in its session"),
        **no_sessions,
    }
