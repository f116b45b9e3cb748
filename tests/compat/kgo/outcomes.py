"""What `go test -json` says of each test, and where two runs differ. No processes here.

Source of the events: `go doc test2json`.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple


class Outcome(StrEnum):
    """How a test ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNFINISHED = "did not end"
    ABSENT = "not there"


class GoTest(NamedTuple):
    """A test or a subtest; without a name it is all of a package."""

    package: str
    name: str

    def __str__(self) -> str:
        return self.name or f"all of {self.package}"

    def within(self, other: GoTest) -> bool:
        """Whether it is a subtest of another one, which fails if this one does.

        >>> GoTest("p", "A/b").within(GoTest("p", "A")), GoTest("p", "AB").within(GoTest("p", "A"))
        (True, False)
        """
        return self.package == other.package and self.name.startswith(
            f"{other.name}/" if other.name else other.name
        )


@dataclass(slots=True)
class Run:
    """The tests of a run."""

    outcomes: dict[GoTest, Outcome] = field(default_factory=dict)
    """Packages stand among them."""
    said: dict[GoTest, deque[str]] = field(default_factory=dict)
    """The last lines that each printed, without those that `go test` adds."""

    def counts(self) -> Counter[Outcome]:
        """How many tests ended how."""
        return Counter(outcome for test, outcome in self.outcomes.items() if test.name)

    def reason(self, test: GoTest) -> str:
        """What a test printed last, in a line."""
        return " | ".join(self.said.get(test, ()))


class Difference(NamedTuple):
    """A test that did not end in the same way."""

    test: GoTest
    direct: Outcome
    through: Outcome


ALL: Final = "."
"""The pattern that every test fits."""

_ENDS: Final = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_LINES: Final = 5
_MARKS: Final = ("=== ", "--- ")


def read(lines: Iterable[str]) -> Run:
    """The run that some lines of JSON tell of; what is no event (a compiler's words) is left out."""
    run = Run()
    for line in lines:
        event = _event(line)
        test = GoTest(str(event.get("Package", "")), str(event.get("Test", "")))
        action = event.get("Action")
        if action in ("run", "start"):
            run.outcomes[test] = Outcome.UNFINISHED
        elif action in _ENDS:
            run.outcomes[test] = _ENDS[action]
        elif action == "output":
            text = str(event.get("Output", "")).strip()
            if text and not text.startswith(_MARKS):
                run.said.setdefault(test, deque(maxlen=_LINES)).append(text)
    return run


def _event(line: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def differences(direct: Run, through: Run) -> list[Difference]:
    """The tests that ended differently; not those above them that only failed with them."""
    found = [
        Difference(test, one, other)
        for test in sorted({**direct.outcomes, **through.outcomes})
        for one in [direct.outcomes.get(test, Outcome.ABSENT)]
        for other in [through.outcomes.get(test, Outcome.ABSENT)]
        if one is not other
    ]
    return [one for one in found if _lowest(one.test, [other.test for other in found])]


def neither(direct: Run, through: Run) -> list[GoTest]:
    """The tests that did not pass on either side, nor were left out; the lowest ones only."""
    found = [
        test
        for test, outcome in sorted(direct.outcomes.items())
        if outcome is through.outcomes.get(test)
        and outcome not in (Outcome.PASSED, Outcome.SKIPPED)
    ]
    return [test for test in found if _lowest(test, found)]


def _lowest(test: GoTest, among: Sequence[GoTest]) -> bool:
    return not any(other != test and other.within(test) for other in among)


def pattern(tests: Iterable[GoTest]) -> str:
    """What `go test -run` takes to run these again, each as a whole; all, if a package is among them.

    >>> pattern([GoTest("p", "TestB/x=1"), GoTest("p", "TestA"), GoTest("p", "TestB/y")])
    '^(TestA|TestB)$'
    >>> pattern([GoTest("p", ""), GoTest("p", "TestA")])
    '.'
    """
    names = sorted({test.name.partition("/")[0] for test in tests})
    return ALL if "" in names else f"^({'|'.join(names)})$"


def in_words(counts: Mapping[Outcome, int]) -> str:
    """So many of each, in a line.

    >>> in_words(Counter({Outcome.PASSED: 468, Outcome.SKIPPED: 2}))
    '470 tests: 468 passed, 2 skipped'
    """
    each = ", ".join(f"{counts[one]} {one}" for one in Outcome if counts.get(one))
    return f"{sum(counts.values())} tests: {each or 'none'}"
