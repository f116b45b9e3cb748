from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.json_form import recipe_json
from barnabas.fuzz.cases.observation import Death, Ending, Observation, Probe
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.targets.blame import TRIES, Search, Trouble, search_culprit, settle
from tests.fuzz.observed import ASK, case

AMPLIFIED = ORACLES_BY_NAME["amplified"]

DEAD = Trouble(death=Death(3, "gone"))
HANGS = Trouble(Probe(False, 5000.0, "no answer within 5 s"))
NOISY = Trouble(Probe(True, 1.0), log=("ERROR something",))


Found = list[Observation]


class Fake:
    """A target with trouble behind some cases: when at least `together` of them come in one go."""

    def __init__(self, guilty: Iterable[int], trouble: Trouble = DEAD, together: int = 1) -> None:
        self.guilty = set(guilty)
        self.wrong, self.together = trouble, together
        self.seen: list[list[int]] = []

    def perform(self, cases: Sequence[Case]) -> Found:
        self.seen.append([one.number for one in cases])
        return [Observation(one) for one in cases]

    def trouble(self) -> Trouble | None:
        return self.wrong if len(self.guilty & {*self.seen[-1]}) >= self.together else None

    def remains(self, wrong: Trouble) -> bool:
        return True

    def ways(self, likely: Callable[[Case], bool]) -> Search:
        return Search(self.perform, self.trouble, likely, self.remains)

    def settle(self, count: int, likely: Callable[[Case], bool] = lambda case: False) -> Found:
        return settle(cases(count), self.ways(likely))

    def search(
        self, found: Found, wrong: Trouble, likely: Callable[[Case], bool] = lambda case: False
    ) -> Found:
        return search_culprit(found, wrong, self.ways(likely))


def numbers(found: Iterable[Observation]) -> list[int]:
    return [one.case.number for one in found]


def dead(found: Iterable[Observation]) -> list[int]:
    return numbers(one for one in found if one.death)


def blamed(found: Iterable[Observation]) -> list[int]:
    return numbers(one for one in found if dict(one.facts).get("blamed"))


def cases(count: int) -> list[Case]:
    return [case(ASK, number=number) for number in range(count)]


@pytest.mark.parametrize("guilty", [[0], [63], [17], [3, 40], [0, 1, 2, 63]])
def test_the_guilty_are_found_and_nobody_else(guilty: list[int]) -> None:
    fake = Fake(guilty)
    result = fake.settle(64)
    assert numbers(result) == list(range(64))
    assert dead(result) == guilty


def test_kinds_that_were_to_blame_before_are_looked_at_first() -> None:
    fake = Fake([41])
    result = fake.settle(64, lambda case: case.number == 41)
    assert dead(result) == [41]
    assert len(fake.seen) == 3


def died() -> list[Observation]:
    endings = ["open"] * 4 + ["closed", "reset", "closed"] + ["refused"] * 2
    return [Observation(one, ending=end) for one, end in zip(cases(9), endings, strict=True)]  # type: ignore[arg-type]


def hung() -> list[Observation]:
    waited = (("waited_ms", 400),)
    return [Observation(one, facts=waited if one.number % 2 else ()) for one in cases(6)]


def ending(count: int, end: Ending) -> Found:
    return [Observation(one, ending=end) for one in cases(count)]


SLOWLY = died()
SLOWLY[2] = replace(SLOWLY[2], facts=(("waited_ms", 300),))


@pytest.mark.parametrize(
    ("seen", "trouble", "guilty", "tried", "settled"),
    [
        # those under way are tried alone, the last one first; who stands behind them is sent again
        (died(), DEAD, [5], [[6], [5]], [0, 1, 2, 3, 5, 6]),
        # who was not answered is tried behind those that were closed
        (SLOWLY, DEAD, [2], [[6], [5], [4], [2]], [*range(7)]),
        # who was not answered is tried, in order; then those that were are halved
        (hung(), HANGS, [3], [[1], [3]], [*range(5)]),
        (
            hung(),
            HANGS,
            [2],
            [[1], [3], [5], [0, 1, 2], [0], [1, 2], [1], [2], [3, 4, 5]],
            [*range(6)],
        ),
        # all are halved: nobody was reached, or it goes on
        (ending(4, "refused"), DEAD, [1], [[0, 1], [0], [1], [2, 3]], [*range(4)]),
        (ending(4, "closed"), NOISY, [1, 2], [[0, 1], [0], [1], [2, 3], [2], [3]], [*range(4)]),
    ],
    ids=["died", "died slowly", "hung", "hung behind an answer", "refused", "logged"],
)
def test_who_was_under_way_is_tried_alone_or_all_are_halved(
    seen: Found, trouble: Trouble, guilty: list[int], tried: list[list[int]], settled: list[int]
) -> None:
    fake = Fake(guilty, trouble)
    result = fake.search(seen, trouble)
    assert fake.seen == tried
    assert numbers(result) == settled
    assert blamed(result) == guilty


def test_what_only_several_do_together_names_them_all() -> None:
    fake = Fake([10, 50], together=2)
    result = fake.settle(64)
    (last,) = (one for one in result if one.death)
    facts = dict(last.facts)
    assert facts["together"] == list(range(64))
    assert facts["earlier"] == [recipe_json(one.recipe) for one in cases(63)]


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
    (one,) = settle(cases(1), Search(lambda cases: [Observation(cases[0])], lambda: grown))
    assert any(AMPLIFIED.judge(one)) == trouble


class Says(Fake):
    """Says what each of some cases makes it say; what was said of one alone is known from then on."""

    def __init__(self, said: dict[int, str]) -> None:
        super().__init__(list(said))
        self.said = said
        self.known: set[str] = set()

    def perform(self, cases: Sequence[Case]) -> list[Observation]:
        result = super().perform(cases)
        self.wrong = Trouble(log=self.news(one.number for one in cases))
        if len(cases) == 1:
            self.known.update(self.wrong.log)
        return result

    def trouble(self) -> Trouble | None:
        return self.wrong if self.wrong.log else None

    def news(self, numbers: Iterable[int]) -> tuple[str, ...]:
        entries = dict.fromkeys(self.said[number] for number in numbers if number in self.said)
        return tuple(entry for entry in entries if entry not in self.known)

    def remains(self, wrong: Trouble) -> bool:
        return any(entry not in self.known for entry in wrong.log)

    def searched(self, count: int, near: dict[str, tuple[int, ...]]) -> list[int]:
        """Who is to blame for what was said behind so many cases."""
        log = self.news(range(count))
        near_each = tuple(near.get(entry, ()) for entry in log)
        result = self.search(ending(count, "open"), Trouble(log=log, near=near_each))
        assert numbers(result) == list(range(count))
        return blamed(result)


def test_the_nearest_to_an_entry_are_tried_alone_and_nobody_else_once_it_is_known_whose_it_is() -> (
    None
):
    fake = Says({5: "ERROR a", 40: "ERROR b", 41: "ERROR b"})
    assert fake.searched(64, {"ERROR a": (7, 5, 6), "ERROR b": (40, 41)}) == [5, 40]
    assert fake.seen == [[7], [5], [40]]


def test_an_entry_that_none_of_the_nearest_shows_is_halved_for() -> None:
    fake = Says({5: "ERROR a", 9: "ERROR b"})
    near = {"ERROR a": (5,), "ERROR b": tuple(range(10, 10 + TRIES + 1))}
    assert fake.searched(16, near) == [5, 9]
    tried = [[5], *([number] for number in range(10, 10 + TRIES))]
    assert fake.seen[: len(tried)] == tried
    assert not any(5 in run for run in fake.seen[1:])


def test_of_a_target_that_is_well_who_was_waited_for_is_tried_last_and_alone() -> None:
    """A case that takes a broker eight seconds takes them in every part that it is in."""
    waited = (("waited_ms", 400),)
    slow = {2, 3, *range(20, 32)}
    results = [Observation(one, facts=waited if one.number in slow else ()) for one in cases(32)]

    def tried(guilty: int, near: tuple[int, ...] = ()) -> list[list[int]]:
        fake = Says({guilty: "ERROR a"})
        settled = fake.search(results, Trouble(log=("ERROR a",), near=(near,)))
        assert (numbers(settled), blamed(settled)) == (list(range(32)), [guilty])
        return fake.seen

    seen = tried(9, near=(2, 1))
    assert seen[:2] == [[1], [2]]  # of the nearest, too
    assert not any(slow & set(run) for run in seen[2:])
    assert tried(20)[1:] == [[2], [3], [20]]
    tried(31)


def test_of_a_process_that_died_who_was_answered_is_not_run_again() -> None:
    class Dying(Fake):
        """Answers in order until it dies: four more are under way then, the rest find nobody."""

        def perform(self, cases: Sequence[Case]) -> list[Observation]:
            self.seen.append([one.number for one in cases])
            dead = next((i for i, one in enumerate(cases) if one.number in self.guilty), None)
            if dead is None:
                return [Observation(one, replies=(b"fine",)) for one in cases]
            return [
                Observation(one, replies=(b"fine",))
                if i < dead - 1
                else Observation(one, ending="reset" if i < dead + 3 else "refused")
                for i, one in enumerate(cases)
            ]

    fake = Dying([20])
    result = fake.settle(64)
    assert numbers(result) == list(range(64))
    assert dead(result) == [20]
    assert all(one.replies or one.death for one in result)
    assert not any(number < 19 for run in fake.seen[1:] for number in run)
