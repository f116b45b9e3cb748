from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.json_form import recipe_json
from barnabas.fuzz.cases.observation import Death, Observation, Probe
from barnabas.fuzz.oracles.amplified import AMPLIFIED
from barnabas.fuzz.targets.blame import ENTRIES, TRIES, Trouble, Ways, searched, settle, unsearched
from barnabas.specs.keys import METADATA
from tests.fuzz.observed import case, request

ASK = request(METADATA, 1, {"topics": None})
DEAD = Trouble(death=Death(3, "gone"))
HANGS = Trouble(Probe(False, 5000.0, "no answer within 5 s"))
NOISY = Trouble(Probe(True, 1.0), log=("ERROR something",))


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
    settle(cases(64), Ways(fake.perform, fake.trouble))
    assert fake.runs == 1


@pytest.mark.parametrize("guilty", [[0], [63], [17], [3, 40], [0, 1, 2, 63]])
def test_the_guilty_are_found_and_nobody_else(guilty: list[int]) -> None:
    fake = Fake(guilty)
    found = settle(cases(64), Ways(fake.perform, fake.trouble))
    assert [one.case.number for one in found] == list(range(64))
    assert [one.case.number for one in found if one.death] == guilty


def test_one_of_many_is_found_in_a_few_runs() -> None:
    fake = Fake([41])
    settle(cases(128), Ways(fake.perform, fake.trouble))
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
    found = settle(cases(64), Ways(fake.perform, fake.trouble))
    assert [one.case.number for one in found] == list(range(64))
    assert [one.case.number for one in found if one.death] == [20]
    assert all(one.replies or one.death for one in found)
    assert not any(number < 19 for run in fake.seen[1:] for number in run)


def test_kinds_that_were_to_blame_before_are_looked_at_first() -> None:
    fake = Fake([41])
    found = settle(cases(64), Ways(fake.perform, fake.trouble, lambda case: case.number == 41))
    assert [one.case.number for one in found if one.death] == [41]
    assert fake.runs == 3


class Alone(Fake):
    """Is asked which of many cases it was."""

    def __init__(self, guilty: Sequence[int], trouble: Trouble = DEAD, together: int = 1) -> None:
        super().__init__(guilty, together)
        self.wrong = trouble

    def perform(self, cases: Sequence[Case]) -> list[Observation]:
        self.seen.append([one.number for one in cases])
        return super().perform(cases)

    def trouble(self) -> Trouble | None:
        return self.wrong if super().trouble() else None


def died() -> list[Observation]:
    """Four were answered, then three were under way, and nobody was there for the last two."""
    endings = ["open"] * 4 + ["closed", "reset", "closed"] + ["refused"] * 2
    return [Observation(one, ending=end) for one, end in zip(cases(9), endings, strict=True)]  # type: ignore[arg-type]


def hung() -> list[Observation]:
    """Three of six were not answered."""
    waited = (("waited_ms", 400),)
    return [Observation(one, facts=waited if one.number % 2 else ()) for one in cases(6)]


def test_behind_a_death_those_under_way_are_tried_alone_the_last_one_first() -> None:
    fake = Alone([5])
    found = searched(died(), DEAD, Ways(fake.perform, fake.trouble))
    assert fake.seen == [[6], [5]]
    assert [one.case.number for one in found] == [0, 1, 2, 3, 5, 6]  # the others are sent again
    assert [one.case.number for one in found if one.death] == [5]


def test_what_was_not_answered_before_it_died_is_tried_behind_those_that_it_closed() -> None:
    slowly = died()
    slowly[2] = replace(slowly[2], facts=(("waited_ms", 300),))
    fake = Alone([2])
    found = searched(slowly, DEAD, Ways(fake.perform, fake.trouble))
    assert fake.seen == [[6], [5], [4], [2]]
    assert [one.case.number for one in found if one.death] == [2]


def test_kinds_that_ended_it_before_are_tried_first() -> None:
    fake = Alone([4])
    searched(died(), DEAD, Ways(fake.perform, fake.trouble, lambda case: case.number == 4))
    assert fake.seen == [[4]]


def test_behind_a_hang_those_are_tried_that_were_not_answered_in_their_order() -> None:
    fake = Alone([3], HANGS)
    found = searched(hung(), HANGS, Ways(fake.perform, fake.trouble))
    assert fake.seen == [[1], [3]]
    assert [one.case.number for one in found] == [0, 1, 2, 3, 4]
    assert [one.case.number for one in found if one.probe] == [3]


def test_a_hang_of_an_answered_case_is_found_by_halving() -> None:
    fake = Alone([2], HANGS)
    found = searched(hung(), HANGS, Ways(fake.perform, fake.trouble))
    assert fake.seen[:3] == [[1], [3], [5]]
    assert [one.case.number for one in found] == list(range(6))
    assert [one.case.number for one in found if one.probe] == [2]


def test_a_death_that_takes_two_names_all_that_were_reached() -> None:
    fake = Alone([4, 6], together=2)
    found = searched(died(), DEAD, Ways(fake.perform, fake.trouble))
    (blamed,) = (one for one in found if one.death)
    assert blamed.shared
    assert [one.case.number for one in found] == list(range(7))


def test_where_nobody_was_reached_all_are_halved() -> None:
    nobody = [Observation(one, ending="refused") for one in cases(4)]
    fake = Alone([1])
    found = searched(nobody, DEAD, Ways(fake.perform, fake.trouble))
    assert [one.case.number for one in found] == list(range(4))
    assert [one.case.number for one in found if one.death] == [1]


def test_what_is_only_logged_is_halved() -> None:
    fake = Alone([1, 2], NOISY)
    closed = [Observation(one, ending="closed") for one in cases(4)]
    found = searched(closed, NOISY, Ways(fake.perform, fake.trouble))
    assert fake.seen[0] == [0, 1]
    assert [one.case.number for one in found if one.log] == [1, 2]


class Says(Alone):
    """Says what each of some cases makes it say; what was said of one alone is known from then on."""

    def __init__(self, said: dict[int, str]) -> None:
        super().__init__(list(said))
        self.said = said
        self.known: set[str] = set()

    def perform(self, cases: Sequence[Case]) -> list[Observation]:
        found = super().perform(cases)
        self.wrong = Trouble(log=self.news(one.number for one in cases))
        if len(cases) == 1:
            self.known.update(self.wrong.log)
        return found

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
        wrong = Trouble(log=log, near=tuple(near.get(entry, ()) for entry in log))
        ways = Ways(self.perform, self.trouble, remains=self.remains)
        found = searched([Observation(one) for one in cases(count)], wrong, ways)
        assert [one.case.number for one in found] == list(range(count))
        return [one.case.number for one in found if dict(one.facts).get("blamed")]


def test_the_nearest_to_an_entry_are_tried_alone_and_nobody_else_once_it_is_known_whose_it_is() -> (
    None
):
    fake = Says({5: "ERROR a", 40: "ERROR b", 41: "ERROR b"})
    assert fake.searched(64, {"ERROR a": (7, 5, 6), "ERROR b": (40, 41)}) == [5, 40]
    assert fake.seen == [[7], [5], [40]]


def test_who_is_tried_in_vain_keeps_what_it_was_answered_first() -> None:
    fake = Says({5: "ERROR a"})
    first = [Observation(one, replies=(b"first",)) for one in cases(8)]
    ways = Ways(fake.perform, fake.trouble, remains=fake.remains)
    found = searched(first, Trouble(log=("ERROR a",), near=((4, 5),)), ways)
    assert [one.replies for one in found] == [(b"first",)] * 5 + [()] + [(b"first",)] * 2


def test_an_entry_that_none_of_the_nearest_shows_is_halved_for() -> None:
    fake = Says({5: "ERROR a", 9: "ERROR b"})
    assert fake.searched(16, {"ERROR a": (5,), "ERROR b": tuple(range(10, 10 + TRIES + 1))}) == [
        5,
        9,
    ]
    tried = [[5], *([number] for number in range(10, 10 + TRIES))]
    assert fake.seen[: len(tried)] == tried
    assert not any(5 in run for run in fake.seen[1:])


def test_of_a_target_that_is_well_who_was_waited_for_is_tried_last_and_alone() -> None:
    """A case that takes a broker eight seconds takes them in every part that it is in."""
    waited = (("waited_ms", 400),)
    slow = {2, 3, *range(20, 32)}
    found = [Observation(one, facts=waited if one.number in slow else ()) for one in cases(32)]

    def blamed(guilty: int, near: tuple[int, ...] = ()) -> tuple[list[int], list[list[int]]]:
        fake = Says({guilty: "ERROR a"})
        ways = Ways(fake.perform, fake.trouble, remains=fake.remains)
        settled = searched(found, Trouble(log=("ERROR a",), near=(near,)), ways)
        assert [one.case.number for one in settled] == list(range(32))
        facts = ((one.case.number, dict(one.facts)) for one in settled)
        return [number for number, one in facts if one.get("blamed")], fake.seen

    who, seen = blamed(9, near=(2, 1))
    assert who == [9]
    assert seen[:2] == [[1], [2]]  # of the nearest, too
    assert not any(slow & set(run) for run in seen[2:])
    who, seen = blamed(20)
    assert who == [20]
    assert seen[1:] == [[2], [3], [20]]
    assert blamed(31)[0] == [31]


def test_of_a_template_the_nearest_of_a_few_entries_are_tried() -> None:
    fake = Says({50: "ERROR a"})
    ways = Ways(fake.perform, fake.trouble, remains=fake.remains)
    wrong = Trouble(log=("ERROR a",) * (ENTRIES + 1), near=((1,), (2,), (3,)))
    found = searched([Observation(one) for one in cases(64)], wrong, ways)
    assert fake.seen[:3] == [[1], [2], list(range(32))]
    assert [one.case.number for one in found if dict(one.facts).get("blamed")] == [50]


def test_what_only_several_do_together_names_them_all() -> None:
    fake = Fake([10, 50], together=2)
    found = settle(cases(64), Ways(fake.perform, fake.trouble))
    (blamed,) = (one for one in found if one.death)
    facts = dict(blamed.facts)
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
    (one,) = settle(cases(1), Ways(lambda cases: [Observation(cases[0])], lambda: grown))
    assert any(AMPLIFIED.judge(one)) == trouble


def test_who_was_under_way_when_it_ended_is_blamed_where_nobody_can_look_further() -> None:
    """0 was over when others were answered, 2 at the look that shows the end."""
    one, two, three, four, five = (case(ASK, number=number) for number in range(5))
    found = [
        Observation(one, ending="closed"),
        Observation(two, replies=(b"fine",)),
        Observation(four, ending="reset"),
        Observation(three, replies=(b"fine",)),
        Observation(five, ending="refused"),
    ]
    settled = unsearched(found, DEAD, {0: 1, 1: 2, 3: 3, 2: 3, 4: 4})
    assert [(one.case.number, one.death is not None) for one in settled] == [
        (0, False),
        (1, False),
        (3, True),
        (2, False),
    ]
    assert not settled[2].shared
