"""Made-up runs on both sides: what differs is tried once more, and what is wrong is said."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Set
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
from rich.console import Console

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.finding import Check, Finding, Severity
from tests.compat.kgo.comparison import Compared, Through, compared, lines, table
from tests.compat.kgo.outcomes import GoTest, Outcome, Run
from tests.compat.kgo.suite import Ended
from tests.compat.processes import RunningProxy

PASSED, FAILED, SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED
HEARTBEATS = next(check for check in CHECKS if check.name == "heartbeats")
JOINS = next(check for check in CHECKS if check.name == "joins")
T = TypeVar("T")
SLOW = "group ab12: the rebalance to generation 4 took 7.25 s; member m (kgo) joined last"


def ended(**outcomes: Outcome) -> Ended:
    tests = {GoTest("kgo", name.replace("__", "/")): end for name, end in outcomes.items()}
    said = {test: deque([f"{test} is broken"]) for test, end in tests.items() if end is FAILED}
    return Ended(Run(tests, said), 1.0, set())


def finding(check: Check, severity: Severity, what: str) -> tuple[Check, Finding]:
    return check, Finding(severity, what, "", ())


def passed(
    exchanges: int = 5, complaints: list[str] | None = None, found: list[Any] | None = None
) -> RunningProxy:
    with tempfile.TemporaryFile("w+") as said:
        proxy = RunningProxy("127.0.0.1:1", said, Path("none"))
    proxy.exchanges = proxy.shown = exchanges
    proxy.complaints += complaints or []
    proxy.found += found or []
    return proxy


def behind(
    run: Ended, proxy: RunningProxy | None = None, bypassed: Set[str] = frozenset()
) -> Through:
    return Through(run, proxy or passed(), bypassed)


class Side(Generic[T]):
    """Gives one run after the other, and notes which tests it was to run."""

    def __init__(self, *runs: T) -> None:
        self.runs = list(runs)
        self.asked: list[str] = []

    def __call__(self, only: str) -> T:
        self.asked.append(only)
        return self.runs.pop(0)


def put(direct: Side[Ended], through: Side[Through], only: str = ".") -> Compared:
    return compared(direct, through, only, lambda _: None)


def text(found: Compared) -> str:
    return "\n".join(lines(found))


def test_runs_that_end_in_the_same_way_are_fine_and_made_once() -> None:
    direct = Side(ended(A=PASSED, B=SKIPPED, C=FAILED))
    through = Side(behind(ended(A=PASSED, B=SKIPPED, C=FAILED)))
    found = put(direct, through, "A|B|C")
    assert found.fine
    assert direct.asked == through.asked == ["A|B|C"]
    assert text(found).splitlines() == [
        "C does not pass directly either: C is broken",
        "directly: 3 tests: 1 passed, 1 failed, 1 skipped (1 s)",
        "through the proxy: 3 tests: 1 passed, 1 failed, 1 skipped (1 s)",
        "0 tests differed, 0 of them not when run once more",
        "5 exchanges captured, 5 shown, 0 not decoded; findings: none",
    ]


def test_what_differs_is_run_once_more_and_that_is_said() -> None:
    direct = Side(ended(A__x=PASSED, B=PASSED), ended(A__x=PASSED))
    through = Side(behind(ended(A__x=FAILED, B=PASSED)), behind(ended(A__x=PASSED)))
    found = put(direct, through)
    assert found.fine
    assert direct.asked == through.asked == [".", "^(A)$"]
    assert "A/x, through the proxy: A/x is broken" in text(found)
    assert "1 test differed, 1 of them not when run once more" in text(found)
    assert "the same" in shown(found)


def test_what_differs_twice_is_not_fine() -> None:
    direct = Side(ended(A=PASSED), ended(A=PASSED))
    found = put(direct, Side(behind(ended(A=FAILED)), behind(ended(A=FAILED))))
    assert not found.fine
    assert found.complaints == []
    assert "1 test differed, 0 of them not when run once more" in text(found)
    assert "passed, failed" in shown(found)


def shown(found: Compared) -> str:
    console = Console(width=100)
    with console.capture() as captured:
        console.print(table(found))
    return captured.get()


@pytest.mark.parametrize(
    ("direct", "through", "complaint"),
    [
        (
            ended(A=PASSED),
            behind(ended(A=PASSED), passed(complaints=["Fetch v9 response: short"])),
            "Fetch v9 response: short",
        ),
        (
            ended(A=PASSED),
            behind(ended(A=PASSED), passed(found=[finding(HEARTBEATS, "error", "silent")])),
            "heartbeats: silent",
        ),
        (
            ended(A=PASSED),
            behind(ended(A=PASSED), bypassed={"127.0.0.1:9092"}),
            "the tests went round the proxy, to 127.0.0.1:9092",
        ),
        (
            ended(A=PASSED),
            behind(ended(A=PASSED), passed(exchanges=0)),
            "nothing passed through the proxy",
        ),
        (ended(A=FAILED), behind(ended(A=FAILED)), "no test passed directly"),
    ],
)
def test_what_is_wrong_beside_the_tests_is_said(
    direct: Ended, through: Through, complaint: str
) -> None:
    found = put(Side(direct), Side(through))
    assert found.complaints == [complaint]
    assert not found.fine
    assert text(found).splitlines()[-1] == complaint


def test_findings_are_counted_and_notes_and_known_ones_are_fine() -> None:
    proxy = passed(
        found=[
            finding(JOINS, "warning", SLOW),
            finding(HEARTBEATS, "note", "a member left"),
            finding(HEARTBEATS, "note", "a member left"),
        ]
    )
    found = put(Side(ended(A=PASSED)), Side(behind(ended(A=PASSED), proxy)))
    assert found.fine
    assert "findings: joins 1 warning, heartbeats 2 notes, 1 of these known" in text(found)
