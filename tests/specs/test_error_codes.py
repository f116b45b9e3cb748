"""The table of error codes against what is known of Kafka's."""

from __future__ import annotations

import pytest

from barnabas.specs.error_codes import ERROR_CODES, error_name


@pytest.mark.parametrize(
    ("code", "name", "retriable"),
    [
        (-1, "UNKNOWN_SERVER_ERROR", False),
        (0, "NONE", False),
        (6, "NOT_LEADER_OR_FOLLOWER", True),
        (7, "REQUEST_TIMED_OUT", True),
        (16, "NOT_COORDINATOR", True),
        (35, "UNSUPPORTED_VERSION", False),
        (87, "INVALID_RECORD", False),
        (90, "PRODUCER_FENCED", False),
        (100, "UNKNOWN_TOPIC_ID", True),
        (136, "CONTROLLER_ID_NOT_REGISTERED", False),
    ],
)
def test_known_codes(code: int, name: str, retriable: bool) -> None:
    assert ERROR_CODES[code + 1] == (code, name, retriable)
    assert error_name(code) == name


def test_an_unknown_code_is_named_by_its_number() -> None:
    assert error_name(len(ERROR_CODES)) == f"ERROR_{len(ERROR_CODES)}"
    assert error_name(-2) == "ERROR_-2"
