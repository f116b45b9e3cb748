"""What comes before a login: which steps lead there, and what is live in a token."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.fuzz.cases.case import Recipe, session_of
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.sessions.live_values import TOKENS, Values, filled
from barnabas.fuzz.sessions.login import default_credentials, login
from barnabas.fuzz.sessions.registry import SESSIONS, is_bare, named, seeds
from barnabas.fuzz.sessions.session import Session, Stage, Stuck
from barnabas.specs.keys import SASL_AUTHENTICATE, SASL_HANDSHAKE
from tests.fuzz.sessions.test_sessions import driven

BEFORE = [session for session in SESSIONS if session.before_login]
CHALLENGE = b"r=fuzz000012and-the-server's-own,s=QUJDRA==,i=4096"
"""A nonce of 30 letters in all; Kafka's have 34 to 36."""


def _played(session: Session) -> tuple[list[tuple[int, int]], Values]:
    challenge = {"error_code": 0, "auth_bytes": CHALLENGE}
    asked, live = driven(session.run(Stage({}, 12)), lambda _: challenge)
    return [(ask.key, ask.version) for ask in asked], live


@pytest.mark.parametrize("session", BEFORE, ids=lambda one: one.name)
def test_nothing_but_sasl_is_asked_before_a_login(session: Session) -> None:
    asked, live = _played(session)
    proves = session.name.endswith("-proof")
    assert set(live) == ({"scram_nonce", "scram_proof"} if proves else set())
    handshake = [] if session.name == "greeting" else [(SASL_HANDSHAKE, 0 if session.bare else 1)]
    assert asked == handshake + [(SASL_AUTHENTICATE, 0)] * proves


@pytest.mark.parametrize("name", ["scram-sha-256-proof", "scram-sha-512-proof"])
def test_a_proof_takes_the_place_of_its_stand_in_and_a_changed_one_stays(name: str) -> None:
    session = named(name)
    assert session is not None
    _, live = _played(session)
    seed = seeds(None, [session])[0]
    (sent,) = filled(cook(Recipe(seed, (), name), 0), live, 7)
    assert sent[8:12] == (7).to_bytes(4)
    for stand_in_of, stand_in in TOKENS:
        assert stand_in not in sent, stand_in_of
    assert b"r=fuzz000012and-the-server's-own,x=aaaaaaa,p=" in sent
    case = cook(Recipe(seed, (), name), 0)
    broken = case._replace(live=tuple(one for one in case.live if one.name != "scram_proof"))
    assert any(stand_in in filled(broken, live, 7)[0] for _, stand_in in TOKENS[1:])


def test_a_bare_token_is_a_frame_without_a_header_and_has_nothing_live() -> None:
    bare = [seed for seed in seeds() if is_bare(session_of(seed.origin))]
    assert {(seed.key, seed.version) for seed in bare} == {(SASL_HANDSHAKE, 0)}
    for seed in bare:
        case = cook(Recipe(seed, (), session_of(seed.origin)), 0)
        assert case.live == ()
        assert filled(case, {}, 7) == (len(seed.frame).to_bytes(4) + seed.frame,)
    assert b"\0barnabas\0barnabas-secret" in [seed.frame for seed in bare]


FINE: dict[str, Any] = {"error_code": 0, "auth_bytes": b"", "error_message": None}


def test_plain_names_itself_and_sends_its_one_token() -> None:
    steps = login(default_credentials("PLAIN"), 1)
    asked = next(steps)
    assert (asked.key, asked.version, asked.body) == (SASL_HANDSHAKE, 1, {"mechanism": "PLAIN"})
    asked = steps.send(FINE)
    assert (asked.key, asked.body) == (
        SASL_AUTHENTICATE,
        {"auth_bytes": b"\0barnabas\0barnabas-secret"},
    )
    with pytest.raises(StopIteration):
        steps.send(FINE)


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([{"error_code": 33}], "SaslHandshake for SCRAM-SHA-256 .* UNSUPPORTED_SASL_MECHANISM"),
        ([FINE, {**FINE, "error_code": 58, "error_message": "who?"}], "was refused: who?"),
        ([FINE, {**FINE, "error_code": 58}], "SASL_AUTHENTICATION_FAILED"),
        ([FINE, FINE], "SCRAM challenge can't be read"),
    ],
)
def test_a_broker_that_lets_nobody_in_ends_it(answers: list[dict[str, Any]], says: str) -> None:
    steps = login(default_credentials("SCRAM-SHA-256"), 1)
    next(steps)
    *taken, last = answers
    for answer in taken:
        steps.send(answer)
    with pytest.raises(Stuck, match=says):
        steps.send(last)
