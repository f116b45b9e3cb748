from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.engine.features import template as feature
from barnabas.fuzz.targets.log_attribution import LogTimeline, attribute_entries
from barnabas.fuzz.targets.log_entries import (
    ALIKE,
    LINE_KEPT,
    LogFollower,
    LoggedEntry,
    connection_of,
    split,
    template,
    without_surplus,
)
from barnabas.specs.keys import METADATA
from tests.fuzz.observed import observed, request

STACK = """\
[a] ERROR k.Processor - Exception from 127.0.0.1:9092-127.0.0.1:{}-5
java.lang.Error: x
\tat y.Z.f(Z:7)"""


def test_a_follower_gives_each_line_once_and_waits_for_whole_ones(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("[x] WARN before - it\n")
    follower = LogFollower(path)
    assert follower.entries() == ()
    with path.open("a") as log:
        log.write("[x] WARN one - a\n[x] WARN tw")
    assert follower.entries() == ("[x] WARN one - a",)
    with path.open("a") as log:
        log.write("o - b\n")
    assert follower.entries() == ("[x] WARN two - b",)
    assert follower.entries() == ()


def test_behind_a_line_of_megabytes_the_stack_is_kept_and_how_much_is_missing_is_said() -> None:
    (entry,) = split(f"[a] ERROR k - {'x' * (8 << 20)}\njava.lang.Error: x\n\tat y.Z.f(Z:7)")
    assert len(entry) < 2 * LINE_KEPT
    assert f"x… and {(8 << 20) + 14 - LINE_KEPT} characters more\njava.lang.Error" in entry
    assert entry.endswith("\tat y.Z.f(Z:7)")


def test_of_thousands_of_entries_alike_a_few_are_kept_and_the_rest_counted() -> None:
    many = [LoggedEntry(f"[a] WARN b - topic {number} failed", (number,)) for number in range(5000)]
    other = LoggedEntry("[a] WARN b - another")
    kept = without_surplus([many[0], other, *many[1:]])
    assert kept[:3] == [many[0], other, many[1]]
    assert len(kept) == ALIKE + 1
    assert kept[-1].entry.endswith(f"\n… and {5000 - ALIKE} entries more like it")
    assert template(kept[-1].entry) == template(many[0].entry)
    assert without_surplus(many[:ALIKE]) == many[:ALIKE]


def test_entries_go_to_the_case_on_that_connection_with_that_request() -> None:
    def one(number: int, port: int) -> Observation:
        return observed(
            request(METADATA, 1, {"topics": None}, correlation_id=number), facts=(("port", port),)
        )

    found = [one(1, 5000), one(2, 6000), one(3, 5000)]
    named = "correlationId=1 127.0.0.1:9092-127.0.0.1:5000-5"
    entries = (named, STACK.format(5000), STACK.format(6000), STACK.format(7000))
    results, left = attribute_entries(found, entries)
    assert [len(result.log) for result in results] == [1, 1, 1]
    assert results[0].log == (named,)
    assert left == (STACK.format(7000),)


def test_an_entry_that_names_a_request_only_goes_to_who_alone_has_sent_it() -> None:
    def one(number: int) -> Observation:
        return observed(request(METADATA, 1, {"topics": None}, correlation_id=number))

    entry = "[a] ERROR k.KafkaApis - clientId=t, correlationId=2, api=METADATA"
    results, left = attribute_entries([one(1), one(2)], (entry,))
    assert ([len(result.log) for result in results], left) == ([0, 1], ())
    results, left = attribute_entries([one(2), one(2)], (entry,))
    assert ([len(result.log) for result in results], left) == ([0, 0], (entry,))


@pytest.mark.parametrize(
    "name", ["x" * 16000, "a.b." * 4000, "1:" * 8000, "a-" * 8000, "'" * 16000]
)
def test_long_names_in_a_log_cost_no_more_than_their_length(name: str) -> None:
    """A pattern that is quadratic takes minutes for what a campaign sends often: this would not end."""
    for number in range(50):
        entry = f"[a] ERROR k - {name} of 127.0.0.1:9092-127.0.0.1:{5000 + number}-5"
        assert template(entry)
        assert feature(entry)
        assert connection_of(entry) == (5000 + number, None)


class Log:
    def __init__(self) -> None:
        self.said: tuple[str, ...] = ()

    def __call__(self) -> tuple[str, ...]:
        said, self.said = self.said, ()
        return said


def look(following: LogTimeline, *over: int) -> None:
    for number in over:
        following.over(number)
    following.look()


def test_who_is_over_when_an_entry_comes_is_nearest_then_who_is_next_then_who_was_before() -> None:
    log = Log()
    following = LogTimeline(log)
    look(following, 1)
    look(following, 2)
    log.said = ("ERROR a",)
    look(following, 3)
    look(following, 4, 5)
    assert following.logged([6]) == [LoggedEntry("ERROR a", (3, 4, 5, 2, 1, 6))]
    assert following.logged([6]) == []


def test_the_entries_of_one_look_share_whom_they_may_be_about() -> None:
    """One case may log ten thousand: a list for each would be filled whenever a case is over."""
    log = Log()
    following = LogTimeline(log)
    log.said = tuple(f"ERROR {number}" for number in range(100))
    look(following, 1)
    look(following, 2)
    found = following.logged([3])
    assert [one.near for one in found] == [(1, 2, 3)] * 100
    assert len({id(one.near) for one in found}) == 1
