"""The name that somebody meant."""

from __future__ import annotations

import pytest

from barnabas.nearest import LONGEST, choices, did_you_mean, nearest
from barnabas.specs import NAMES
from barnabas.specs.error_codes import ERROR_CODES

ERRORS = [error.name for error in ERROR_CODES]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NOT_LEDER", "NOT_LEADER_OR_FOLLOWER"),
        ("NOT_LEADER_FOR_PARTITION", "NOT_LEADER_OR_FOLLOWER"),
        ("INVALID_TOPIC", "INVALID_TOPIC_EXCEPTION"),
        ("unknown_topic", "UNKNOWN_TOPIC_ID"),
        ("LEDER_NOT_AVAILABLE", "LEADER_NOT_AVAILABLE"),
        ("REQUEST_TIMEOUT", "REQUEST_TIMED_OUT"),
    ],
)
def test_an_error(name: str, meant: str) -> None:
    assert nearest(name, ERRORS) == meant


def test_nothing_is_near() -> None:
    assert nearest("x", ()) is None
    assert nearest("", ("a",)) is None
    assert nearest("indx", ("name", "partition_index")) == "partition_index"
    assert nearest("nonsense", NAMES.values()) is None
    assert nearest("mine", ("lossy-network", "slow-broker")) is None
    longest = "x" * LONGEST
    assert nearest(longest, (longest,)) == longest
    assert nearest(longest + "x", (longest,)) is None
    assert did_you_mean("mine", ("lossy-network",)) == ""
    assert choices("mine", ("embedded", "apache")) == "; choose one of: embedded, apache"
    assert choices("apachy", ("embedded", "apache")) == "; did you mean 'apache'?"
