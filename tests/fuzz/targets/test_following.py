from __future__ import annotations

from barnabas.fuzz.targets.entries import Logged
from barnabas.fuzz.targets.following import Following


class Log:
    """Says what it was given, once."""

    def __init__(self) -> None:
        self.said: tuple[str, ...] = ()

    def __call__(self) -> tuple[str, ...]:
        said, self.said = self.said, ()
        return said


def look(following: Following, *over: int) -> None:
    for number in over:
        following.over(number)
    following.look()


def test_who_is_over_when_an_entry_comes_is_nearest_then_who_is_next_then_who_was_before() -> None:
    log = Log()
    following = Following(log)
    look(following, 1)
    look(following, 2)
    log.said = ("ERROR a",)
    look(following, 3)
    look(following, 4, 5)
    assert following.logged([6]) == [Logged("ERROR a", (3, 4, 5, 2, 1, 6))]
    assert following.logged([6]) == []


def test_the_entries_of_one_look_share_whom_they_may_be_about() -> None:
    """One case may log ten thousand: a list for each would be filled whenever a case is over."""
    log = Log()
    following = Following(log)
    log.said = tuple(f"ERROR {number}" for number in range(100))
    look(following, 1)
    look(following, 2)
    found = following.logged([3])
    assert [one.near for one in found] == [(1, 2, 3)] * 100
    assert len({id(one.near) for one in found}) == 1
