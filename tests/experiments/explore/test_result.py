from __future__ import annotations

from typing import Any

import pytest

from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.result import Result

LOST = (Finding(kind="lost", text="1 not there: a"),)
ENDED_WITH_LOSS = "lost: 1 not there: a; a program may end after this error"


def result(**values: Any) -> Result:
    return Result(**{"run": "1", "exit_code": 0, "seconds": 12.3, "history": True, **values})


@pytest.mark.parametrize(
    ("values", "outcome", "failed", "details"),
    [
        ({}, "fine", False, ""),
        ({"reached": False}, "not reached", False, "inconclusive: the exchange did not occur"),
        ({"reached": False, "trouble": "no"}, "not reached", False, "inconclusive: no"),
        ({"findings": LOST}, "findings", True, "lost: 1 not there: a"),
        (
            {"findings": LOST, "reached": False},
            "findings",
            True,
            "lost: 1 not there: a; inconclusive: the exchange did not occur",
        ),
        ({"exit_code": 3, "last_line": "oh"}, "exit code 3", True, "oh"),
        (
            {"exit_code": 3, "last_line": "oh", "may_end": True},
            "exit code 3",
            False,
            "oh; a program may end after this error",
        ),
        ({"exit_code": 3, "findings": LOST, "may_end": True}, "exit code 3", True, ENDED_WITH_LOSS),
        ({"exit_code": -9, "may_end": True}, "killed by signal 9", True, ""),
        ({"exit_code": None, "may_end": True}, "still running after 12 s", True, ""),
        ({"exit_code": -9}, "killed by signal 9", True, ""),
        ({"exit_code": None, "last_line": "busy"}, "still running after 12 s", True, "busy"),
    ],
)
def test_in_words(values: dict[str, Any], outcome: str, failed: bool, details: str) -> None:
    found = result(**values)
    assert (found.outcome, found.failed, found.details) == (outcome, failed, details)
    assert Result.model_validate_json(found.model_dump_json()) == found
