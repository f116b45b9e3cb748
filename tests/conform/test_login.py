"""A login that the broker refuses is no verdict on a check."""

from __future__ import annotations

import pytest

from barnabas.conform.areas.sasl import login
from barnabas.conform.operations import Unreachable
from tests.conform.recordings import recordings, with_fields


def test_the_mechanism_is_refused() -> None:
    wrong = with_fields("SaslHandshake", 0, {"error_code": "UNSUPPORTED_SASL_MECHANISM"})
    with pytest.raises(
        Unreachable, match=r"no SASL mechanism PLAIN; the broker offers .*SCRAM-SHA-256"
    ):
        recordings("sasl")["sasl/login"].run(login, wrong)


def test_the_password_is_refused() -> None:
    refusal = {"error_code": "SASL_AUTHENTICATION_FAILED", "error_message": "wrong password"}
    with pytest.raises(Unreachable, match="not authenticated: wrong password"):
        recordings("sasl")["sasl/login"].run(login, with_fields("SaslAuthenticate", 0, refusal))
