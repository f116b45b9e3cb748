"""A login by SASL, as far as it goes without a broker; tests/fuzz/targets/test_apache.py has real ones."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.fuzz.sessions.login import credentials, login
from barnabas.fuzz.sessions.session import Stuck
from barnabas.specs.keys import SASL_AUTHENTICATE, SASL_HANDSHAKE

FINE: dict[str, Any] = {"error_code": 0, "auth_bytes": b"", "error_message": None}


def test_plain_names_itself_and_sends_its_one_token() -> None:
    steps = login(credentials("PLAIN"), 1)
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
    steps = login(credentials("SCRAM-SHA-256"), 1)
    next(steps)
    *taken, last = answers
    for answer in taken:
        steps.send(answer)
    with pytest.raises(Stuck, match=says):
        steps.send(last)
