"""What checks created is deleted as far as the broker answers."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import pytest

from barnabas.conform.cleanup import delete
from barnabas.conform.drive import drive
from barnabas.conform.operations import Now, Open, Operation, Unreachable, Write
from barnabas.specs.frames import request_head
from barnabas.specs.registry import NAMES

CREATED = [("topic", "t"), ("group", "g"), ("user", "u"), ("client", "c")]
VERSIONS = {"DeleteTopics": (0, 5), "DeleteGroups": (0, 2), "DeleteAcls": (0, 3)}


def sent(answers: bool) -> list[str]:
    """Return the APIs of the requests to a broker that closes each connection, or is gone."""
    apis: list[str] = []

    def perform(operation: Operation[Any]) -> Any:
        match operation:
            case Open():
                return 0
            case Write(_, data):
                apis.append(NAMES[request_head(data, 4, len(data)).key])
                return None if answers else Unreachable("gone")
            case Now():
                return 0.0
            case _:
                return None

    drive(delete(CREATED, VERSIONS), perform)
    return apis


def test_a_deletion_that_fails_does_not_end_the_others() -> None:
    apis = sent(answers=True)
    assert apis[0] == "DeleteTopics"
    assert {"DeleteGroups", "DeleteAcls"} <= set(apis)


def test_a_broker_that_is_gone_ends_the_deletions_without_a_warning() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(Unreachable):
            sent(answers=False)
        gc.collect()
    assert [str(warning.message) for warning in caught] == []
