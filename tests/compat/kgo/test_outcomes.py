"""Made-up runs: every end that a test may have, and what two runs have in common."""

from __future__ import annotations

import json

import pytest

from tests.compat.kgo.outcomes import (
    Difference,
    GoTest,
    Outcome,
    Run,
    differences,
    in_words,
    neither,
    read,
)

KGO = "example.org/kgo"


def event(action: str, test: str = "", **more: str) -> str:
    named = {"Test": test} if test else {}
    return json.dumps({"Action": action, "Package": KGO, **named, **more}) + "\n"


def run(**outcomes: Outcome) -> Run:
    return Run({GoTest(KGO, name.replace("__", "/")): end for name, end in outcomes.items()})


LINES = [
    "# example.org/kgo\n",
    "[1]\n",
    event("start"),
    event("run", "TestA"),
    event("output", "TestA", Output="=== RUN   TestA\n"),
    event("pause", "TestA"),
    event("run", "TestB"),
    event("run", "TestB/one"),
    event("output", "TestB/one", Output="    b_test.go:7: got 1 key\n"),
    event("output", "TestB/one", Output="    --- FAIL: TestB/one (0.00s)\n"),
    event("fail", "TestB/one", Elapsed="0"),
    event("fail", "TestB"),
    event("run", "TestC"),
    event("skip", "TestC"),
    event("cont", "TestA"),
    event("pass", "TestA"),
    event("run", "TestD"),
    event("output", Output="panic: test timed out\n"),
    event("fail"),
]


def test_every_test_of_a_run_has_the_end_that_go_says_or_none() -> None:
    found = read(LINES)
    assert {str(test): outcome for test, outcome in found.outcomes.items()} == {
        "all of example.org/kgo": Outcome.FAILED,
        "TestA": Outcome.PASSED,
        "TestB": Outcome.FAILED,
        "TestB/one": Outcome.FAILED,
        "TestC": Outcome.SKIPPED,
        "TestD": Outcome.UNFINISHED,
    }
    assert in_words(found.counts()) == "5 tests: 1 passed, 2 failed, 1 skipped, 1 did not end"


def test_the_reason_is_what_a_test_printed_itself() -> None:
    found = read(LINES)
    assert found.reason(GoTest(KGO, "TestB/one")) == "b_test.go:7: got 1 key"
    assert found.reason(GoTest(KGO, "")) == "panic: test timed out"
    assert found.reason(GoTest(KGO, "TestA")) == ""


def test_of_what_a_test_printed_the_last_lines_are_kept() -> None:
    found = read([event("output", "TestA", Output=f"line {i}\n") for i in range(1000)])
    assert found.reason(GoTest(KGO, "TestA")) == " | ".join(f"line {i}" for i in range(995, 1000))


@pytest.mark.parametrize(
    ("direct", "through", "expected"),
    [
        (run(A=Outcome.PASSED, B=Outcome.FAILED), run(A=Outcome.PASSED, B=Outcome.FAILED), []),
        (
            run(A=Outcome.PASSED, B=Outcome.FAILED),
            run(A=Outcome.FAILED, B=Outcome.SKIPPED),
            [("A", Outcome.PASSED, Outcome.FAILED), ("B", Outcome.FAILED, Outcome.SKIPPED)],
        ),
        (
            run(A=Outcome.PASSED),
            run(B=Outcome.PASSED),
            [("A", Outcome.PASSED, Outcome.ABSENT), ("B", Outcome.ABSENT, Outcome.PASSED)],
        ),
        (  # what is above fails with what is in it; AB is not within A
            run(A=Outcome.PASSED, A__x=Outcome.PASSED, AB=Outcome.PASSED),
            run(A=Outcome.FAILED, A__x=Outcome.FAILED, AB=Outcome.PASSED),
            [("A/x", Outcome.PASSED, Outcome.FAILED)],
        ),
    ],
)
def test_differences_are_the_lowest_tests_that_ended_otherwise(
    direct: Run, through: Run, expected: list[tuple[str, Outcome, Outcome]]
) -> None:
    assert differences(direct, through) == [
        Difference(GoTest(KGO, name), one, other) for name, one, other in expected
    ]


def test_a_package_that_fails_as_a_whole_is_a_difference_if_nothing_in_it_is() -> None:
    whole, test = GoTest(KGO, ""), GoTest(KGO, "A")
    direct = Run({whole: Outcome.PASSED, test: Outcome.PASSED})
    broken = Run({whole: Outcome.FAILED, test: Outcome.PASSED})
    assert [one.test for one in differences(direct, broken)] == [whole]
    broken.outcomes[test] = Outcome.UNFINISHED
    assert [one.test for one in differences(direct, broken)] == [test]


def test_what_passes_on_neither_side_is_known_and_what_is_skipped_is_fine() -> None:
    direct = run(A=Outcome.FAILED, A__x=Outcome.FAILED, B=Outcome.SKIPPED, C=Outcome.FAILED)
    through = run(A=Outcome.FAILED, A__x=Outcome.FAILED, B=Outcome.SKIPPED, C=Outcome.PASSED)
    assert [str(test) for test in neither(direct, through)] == ["A/x"]
