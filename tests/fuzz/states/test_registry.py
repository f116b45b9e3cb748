from __future__ import annotations

import pytest

from barnabas.fuzz.states.registry import ALPHABETS
from barnabas.specs.groups import NONE

BY_NAME = {one.name: one for one in ALPHABETS}


@pytest.mark.parametrize(
    ("alphabet", "state", "name"),
    [
        ("classic-group", "STABLE", "Heartbeat of the last generation"),
        ("classic-group", "STABLE", "OffsetCommit of the last generation"),
        ("classic-group", "STABLE", "OffsetCommit of no member"),
        ("consumer-group", "JOINED", "Heartbeat of the next epoch"),
        ("consumer-group", "JOINED", "OffsetCommit of no member"),
        ("consumer-group", "UNSUBSCRIBED", "OffsetCommit"),
        ("transaction", "IN_TRANSACTION with records", "Produce of the last epoch"),
        ("transaction", "IN_TRANSACTION with both", "EndTxn of the last epoch"),
        ("fetch-session", "IN_SESSION", "Fetch of the last epoch"),
        ("fetch-session", "IN_SESSION", "Fetch of another session"),
    ],
)
def test_what_is_too_old_or_nobodys_is_to_be_refused(alphabet: str, state: str, name: str) -> None:
    found = BY_NAME[alphabet]
    (event,) = (one.event for one in found.inputs if one.name == name)
    assert event
    assert state in dict(found.table.states)
    assert found.table.step(state, event, NONE) is None
