from __future__ import annotations

from collections.abc import Sequence

import pytest

from fuzz.case import Case
from fuzz.observation import Death, Observation
from fuzz.oracles.amplified import AMPLIFIED
from fuzz.targets.blame import Trouble, settle
from specs.keys import METADATA
from tests.fuzz.observed import case, request

ASK = request(METADATA, 1, {"topics": None})
DEAD = Trouble(death=Death(3, "gone"))


class Fake:
    """A target that dies of some cases: when at least `together` of them come in one go."""

    def __init__(self, guilty: Sequence[int], together: int = 1) -> None:
        self.guilty = set(guilty)
        self.together = together
        self.runs = 0
        self.last: Sequence[Case] = ()
        self.seen: list[list[int]] = []

    def perform(self, cases: Sequence[Case]) -> list[Observation]:
        self.runs += 1
        self.last = cases
        return [Observation(one) for one in cases]

    def trouble(self) -> Trouble | None:
        found = sum(one.number in self.guilty for one in self.last)
        return DEAD if found >= self.together else None


def cases(count: int) -> list[Case]:
    return [case(ASK, number=number) for number in range(count)]


def test_without_trouble_nothing_is_run_again() -> None:
    fake = Fake([])
    settle(cases(64), fake.perform, fake.trouble)
    assert fake.runs == 1


@pytest.mark.parametrize("guilty", [[0], [63], [17], [3, 40], [0, 1, 2, 63]])
def test_the_guilty_are_found_and_nobody_else(guilty: list[int]) -> None:
    fake = Fake(guilty)
    found = settle(cases(64), fake.perform, fake.trouble)
    assert [one.case.number for one in found] == list(range(64))
    assert [one.case.number for one in found if one.death] == guilty


def test_one_of_many_is_found_in_a_few_runs() -> None:
    fake = Fake([41])
    settle(cases(128), fake.perform, fake.trouble)
    assert fake.runs == 1 + 2 * 7


def test_of_a_process_that_died_who_was_answered_is_not_run_again() -> None:
    class Dying(Fake):
        """Answers in order until it dies: four more are under way then, the rest find nobody."""

        def perform(self, cases: Sequence[Case]) -> list[Observation]:
            self.runs += 1
            self.seen.append([one.number for one in cases])
            dead = next((i for i, one in enumerate(cases) if one.number in self.guilty), None)
            self.last = cases if dead is not None else ()
            if dead is None:
                return [Observation(one, replies=(b"fine",)) for one in cases]
            return [
                Observation(one, replies=(b"fine",))
                if i < dead - 1
                else Observation(one, ending="reset" if i < dead + 3 else "refused")
                for i, one in enumerate(cases)
            ]

    fake = Dying([20])
    found = settle(cases(64), fake.perform, fake.trouble)
    assert [one.case.number for one in found] == list(range(64))
    assert [one.case.number for one in found if one.death] == [20]
    assert all(one.replies or one.death for one in found)
    assert not any(number < 19 for run in fake.seen[1:] for number in run)


def test_kinds_that_were_to_blame_before_are_looked_at_first() -> None:
    fake = Fake([41])
    found = settle(cases(64), fake.perform, fake.trouble, lambda case: case.number == 41)
    assert [one.case.number for one in found if one.death] == [41]
    assert fake.runs == 3


def test_what_only_several_do_together_names_them_all() -> None:
    fake = Fake([10, 50], together=2)
    found = settle(cases(64), fake.perform, fake.trouble)
    (blamed,) = (one for one in found if one.death)
    assert dict(blamed.facts)["together"] == list(range(64))


@pytest.mark.parametrize(
    ("rss", "heap", "trouble"),
    [
        (70, None, True),
        (130, 90, False),
        (160, 90, True),
        (70, -20, True),
        (130, 130, True),
        (10, 100, True),
    ],
)
def test_what_a_heap_grew_by_is_not_counted_once_more_as_memory_of_the_process(
    rss: int, heap: int | None, trouble: bool
) -> None:
    def memory(grown: int) -> tuple[int, int]:
        return 100 << 20, (100 + grown) << 20

    grown = Trouble(rss=memory(rss), heap=None if heap is None else memory(heap))
    assert grown.alone == trouble
    (one,) = settle(cases(1), lambda cases: [Observation(cases[0])], lambda: grown)
    assert any(AMPLIFIED.judge(one)) == trouble
