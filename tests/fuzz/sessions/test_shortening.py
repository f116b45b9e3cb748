"""Sessions without some of their steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from barnabas.fuzz.sessions.registry import SESSIONS, named
from barnabas.fuzz.sessions.session import Session, Stage
from barnabas.fuzz.sessions.shortening import asked, without
from barnabas.specs.registry import NAMES
from tests.fuzz.sessions.test_sessions import driven


def drive(session: Session, answers: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], Any]:
    """The APIs that it asks, each answered by name, and what it knows in the end."""
    found, values = driven(session.run(Stage({}, 3)), lambda ask: answers[NAMES[ask.key]])
    return [NAMES[ask.key] for ask in found], values


def test_what_is_left_out_is_not_asked_and_the_others_are() -> None:
    session = named("transaction without AddPartitionsToTxn, Metadata")
    assert session is not None
    answer = {"error_code": 0, "producer_id": 77, "producer_epoch": 5}
    names, values = drive(session, {"InitProducerId": answer})
    assert names == ["InitProducerId"]
    assert (values["producer_id"], values["producer_epoch"]) == (77, 5)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.name)
def test_every_session_comes_to_its_end_without_all_of_its_steps(session: Session) -> None:
    names, values = drive(without(session, asked(session)), {})
    assert names == []
    assert bool(values) != session.before_login  # of a login nothing is known that was not asked
