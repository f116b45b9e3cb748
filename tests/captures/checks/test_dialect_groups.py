"""Test the group messages of dialects; the readers of dialects are tested with the dialects."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from barnabas.captures.checks import dialect_groups
from barnabas.captures.checks.dialect_groups import DialectGroups
from barnabas.captures.checks.group_messages import GroupMessage
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.dialects.keys import STEP
from barnabas.specs.keys import LEAVE_GROUP
from barnabas.trouble import Trouble
from tests.captures.checks.groups import join


class Reader:
    """Reads each exchange as somebody who leaves; of version 1 an answer without an error code."""

    def __init__(self, bytes_: int) -> None:
        self.forgotten = 7

    def of(self, exchange: Exchange) -> Iterator[GroupMessage]:
        request = {"member_id": "m", "generation_id": 1}
        response = {} if exchange.version else {"error_code": 0}
        yield GroupMessage(exchange, "g", request, response, 1, LEAVE_GROUP, "", 0, "own")


def groups(monkeypatch: pytest.MonkeyPatch, reader: str | None) -> DialectGroups:
    """Return the groups of one dialect, with or without a reader."""
    spoken = SimpleNamespace(name="own", groups=reader)
    monkeypatch.setattr(dialect_groups, "of_key", lambda key: (spoken, None))
    return DialectGroups()


OWN = f"{__name__}:Reader"


def spoken(version: int) -> Exchange:
    return Exchange(0, 1, "10.0.0.1:5", "app", 1, STEP + 11, version, 1, 10)


def test_a_dialect_reads_its_own_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    known = groups(monkeypatch, OWN)
    assert [one.type for one in known.of(spoken(0))] == ["own"]
    assert known.forgotten == 7
    assert known.of(join(0)) == (), "Kafka's are not read"
    assert groups(monkeypatch, None).of(spoken(0)) == (), "it has no groups"


def test_a_field_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Trouble, match=r"dialect own: .*LeaveGroup has no response\.error_code"):
        groups(monkeypatch, OWN).of(spoken(1))
