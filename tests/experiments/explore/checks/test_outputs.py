"""What an expectation of outputs finds, of histories and logs written by hand."""

from __future__ import annotations

import pytest

from barnabas.experiments.explore.checks.outputs import Expectation, observed, outputs
from barnabas.experiments.explore.history import Event, Failed, History, Sent
from barnabas.experiments.explore.log import Log, LoggedRecord
from tests.experiments.explore.checks.told import READER, T, consumed, log, offset_committed, sent

MISSING, TWICE = "not in output", "twice in output"
BOTH = (READER, consumed("a", 0), consumed("b", 1))
FAILED = Failed(id="b", topic="out")


def out(*names: str, undone: tuple[int, ...] = ()) -> Log:
    return Log(LoggedRecord("out", 0, at, name, at not in undone) for at, name in enumerate(names))


# fmt: off
ROWS: dict[str, tuple[Log, tuple[Event, ...], bool, list[tuple[str, tuple[str, ...]]]]] = {
    "each has one": (out("b", "a"), BOTH, True, []),
    "one is missing": (out("a"), BOTH, True, [(MISSING, ("b",))]),
    "one is there twice": (out("a", "b", "a"), BOTH, True, [(TWICE, ("a",))]),
    "of an aborted transaction": (out("a", "b", undone=(1,)), BOTH, True, [(MISSING, ("b",))]),
    "aborted, and again": (out("a", "a", "b", undone=(0,)), BOTH, True, []),
    "read again, which is one record": (out("a", "b"), (*BOTH, consumed("a", 0)), True, []),
    "two records with one id": (
        out("a", "b"), (*BOTH, consumed("b", 2)), True, [(MISSING, ("b",))]),
    "not read": (out("a"), (READER, consumed("a", 0)), True, []),
    "known to have failed": (out("a"), (*BOTH, FAILED), True, []),
    "without a history": (out("a"), (), True, [(MISSING, ("b",))]),
    "without a history, of a program that failed": (out("a"), (), False, []),
    "without a history, twice, of a program that failed": (
        out("a", "a"), (), False, [(TWICE, ("a",))]),
    "not committed by a program that failed": (out("a"), (*BOTH, offset_committed(1)), False, []),
    "committed by a program that failed": (
        out("a"), (*BOTH, offset_committed(2)), False, [(MISSING, ("b",))]),
    "committed by another group": (out("a"), (*BOTH, offset_committed(2, "h")), False, []),
}
# fmt: on


@pytest.mark.parametrize(("written", "events", "finished", "expected"), ROWS.values(), ids=[*ROWS])
def test_what_has_no_output(
    written: Log,
    events: tuple[Event, ...],
    finished: bool,
    expected: list[tuple[str, tuple[str, ...]]],
) -> None:
    source = log("a", "b")
    findings = outputs(Expectation(T, "out"), History(events), written, source, finished=finished)
    assert [(each.kind, each.ids) for each in findings] == expected


def test_repeats_are_fine_at_least_once() -> None:
    expectation = Expectation(T, "out", at_least_once=True)
    written = out("a", "a")
    (finding,) = outputs(expectation, History(BOTH), written, log(), finished=True)
    assert (finding.kind, finding.text) == (MISSING, "1 of orders without a record in out: b")


def test_a_program_that_read_nothing() -> None:
    (finding,) = outputs(Expectation(T, "out"), History(), out("a"), log(), finished=True)
    assert (finding.kind, finding.text) == (MISSING, "no record of orders was consumed")


def test_an_expectation_as_text() -> None:
    for text in ("orders:out-{run}", "orders-{run}:out:at-least-once"):
        assert str(Expectation.parse(text)) == text
    assert Expectation.parse("a-{run}:b").of_run("5f3a") == ("a-5f3a", "b", False)


@pytest.mark.parametrize("text", ["orders", ":out", "a:", "a:a", "a:b:c", "a:b:at-least-once:"])
def test_texts_that_are_no_expectations(text: str) -> None:
    with pytest.raises(ValueError, match="is no expectation: use SOURCE:OUTPUT"):
        Expectation.parse(text)


def copied(name: str) -> Sent:
    return Sent(id=name, topic="out-5f3a")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((*BOTH, copied("a"), copied("b")), ["orders:out-{run}:at-least-once"]),
        ((*BOTH, copied("a"), sent("b")), []),
        ((copied("a"), *BOTH, copied("a"), copied("b")), []),
        ((*BOTH, sent("a"), sent("b")), []),
        ((READER, consumed("a", 0), copied("a")), []),
        ((), []),
    ],
    ids=["each", "one is missing", "one was sent before", "the same topic", "one only", "none"],
)
def test_what_a_recording_suggests(events: tuple[Event, ...], expected: list[str]) -> None:
    assert [*map(str, observed(History(events), "5f3a"))] == expected
