"""Whose an entry of a log is that names nobody: those nearest to it are tried first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.targets.blame import TRIES, Trouble
from tests.fuzz.targets.test_blame import Fake, blamed, cases, ending, numbers


class Says(Fake):
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
        near_each = tuple(near.get(entry, ()) for entry in log)
        found = self.search(ending(count, "open"), Trouble(log=log, near=near_each))
        assert numbers(found) == list(range(count))
        return blamed(found)


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
    found = [Observation(one, facts=waited if one.number in slow else ()) for one in cases(32)]

    def tried(guilty: int, near: tuple[int, ...] = ()) -> list[list[int]]:
        fake = Says({guilty: "ERROR a"})
        settled = fake.search(found, Trouble(log=("ERROR a",), near=(near,)))
        assert (numbers(settled), blamed(settled)) == (list(range(32)), [guilty])
        return fake.seen

    seen = tried(9, near=(2, 1))
    assert seen[:2] == [[1], [2]]  # of the nearest, too
    assert not any(slow & set(run) for run in seen[2:])
    assert tried(20)[1:] == [[2], [3], [20]]
    tried(31)
