"""Which case of a batch is to blame. What leaves the target well is halved until one alone gives the same
trouble; of what it has to be started again for, cases are tried one by one: that costs fewer starts.

Pure: `Ways` run cases, and say what is wrong with the target after them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.json_form import recipe_json
from barnabas.fuzz.cases.observation import (
    EARLIER,
    TOGETHER,
    UNDER_WAY,
    Death,
    Observation,
    Probe,
)
from barnabas.fuzz.cases.wording import made_of
from barnabas.fuzz.targets.entries import template

GROWTH: Final = 64 << 20
"""Bytes of memory that a batch may take without being asked for it."""

TRIES: Final = 6
"""Cases that are tried alone for an entry of the log: the nearest."""

ENTRIES: Final = 2
"""Entries of a template for which they are."""

SINGLY: Final = 8
"""Cases that were waited for and are tried alone before the others of them are halved."""

HEAP_GROWTH: Final = 96 << 20
"""The same of a heap: of 256 MiB, 77 are young, and full of garbage whatever is asked."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with a target after some cases, that no single one of them shows."""

    probe: Probe | None = None
    death: Death | None = None
    log: tuple[str, ...] = ()
    rss: tuple[int, int] | None = None
    heap: tuple[int, int] | None = None
    near: tuple[tuple[int, ...], ...] = ()
    """For each entry of the log, numbers of the cases that may be behind it, the nearest first."""

    @property
    def slow(self) -> bool:
        """Whether a probe went unanswered: beside cases that are under way it may be slow only."""
        return self.probe is not None and not self.probe.answered

    @property
    def ends(self) -> bool:
        """Whether the target does not go on by itself: each further look costs a start, or a wait."""
        return self.death is not None or self.slow

    @property
    def named(self) -> str:
        """What is wrong, in a word or two."""
        if self.death is not None:
            return "a death"
        if self.slow:
            return "an unanswered probe"
        if self.log:
            return "a log entry"
        return "damage" if self.probe is not None and self.probe.problem else "a growth of memory"

    @property
    def alone(self) -> bool:
        """Whether something is wrong, even if a later probe is answered."""
        lost = self.probe is not None and self.probe.answered and bool(self.probe.problem)
        heap = _grown(self.heap)
        grown = (
            heap > HEAP_GROWTH or _grown(self.rss) - heap > GROWTH
        )  # a JVM takes its heap in steps
        return self.death is not None or lost or bool(self.log) or grown


def _grown(memory: tuple[int, int] | None) -> int:
    return max(memory[1] - memory[0], 0) if memory is not None else 0


@dataclass(frozen=True, slots=True)
class Ways:
    """How to search."""

    perform: Callable[[Sequence[Case]], list[Observation]]
    """Runs cases."""
    trouble: Callable[[], Trouble | None]
    """What is wrong with the target after them."""
    likely: Callable[[Case], bool] = lambda case: False
    """Whether a case is looked at before others."""
    remains: Callable[[Trouble], bool] = lambda wrong: True
    """Whether a trouble is not known yet to be a case's alone: nobody else is looked for, once it is."""


def searched(found: Sequence[Observation], wrong: Trouble, ways: Ways) -> list[Observation]:
    """Of cases that were run, with trouble behind them: those that are settled, at least one. found: in
    the order in which they were over.

    Of a target that ended, cases are tried alone that it left without an answer, until one ends it: two
    starts, however many there are. Who was answered keeps that; the others are not settled, and are to be
    sent again. What none of them does alone is halved.
    """
    in_order = sorted(found, key=lambda one: one.case.number)
    if len(found) == 1:
        return halved(in_order, wrong, ways)
    if not wrong.ends:
        return _nearest(in_order, wrong, ways)
    suspects = _suspects(found, wrong, ways.likely)
    settled = {one.case.number: one for one in in_order if one.ending != "refused"}
    for number in (case.number for case in suspects):
        settled.pop(number, None)
    for case in suspects:
        (one,) = ways.perform((case,))
        seen = ways.trouble()
        settled[case.number] = one if seen is None else blamed(one, seen)
        if seen is not None and seen.ends:
            return [settled[number] for number in sorted(settled)]
    reached = [settled[number] for number in sorted(settled)]
    return halved(reached or in_order, wrong, ways)


def _nearest(found: Sequence[Observation], wrong: Trouble, ways: Ways) -> list[Observation]:
    """Of a target that is well: the nearest cases to entries of its log are tried alone, and the others are
    halved for what is left then."""
    by_number = {one.case.number: one for one in found}
    tried: dict[int, Observation] = {}
    looked: Counter[str] = Counter()
    for entry, near in zip(wrong.log, wrong.near, strict=False):
        looked[template(entry)] += 1
        there = [number for number in near if number in by_number][:TRIES]
        there.sort(key=lambda number: by_number[number].overdue)
        for number in there if looked[template(entry)] <= ENTRIES else ():
            if number not in tried and ways.remains(Trouble(log=(entry,))):
                (again,) = settle((by_number[number].case,), ways)
                # what it was answered first is as true, and others may have taken away since what it needs
                tried[number] = again if again.log or _troubled(again) else by_number[number]
    left = [one for one in found if one.case.number not in tried]
    if left and ways.remains(wrong):
        if not any(map(_troubled, tried.values())):
            return halved(found, wrong, ways)
        for part in _parts(left, wrong, ways.likely):
            if ways.remains(wrong):
                by_number |= {one.case.number: one for one in settle(part, ways)}
    by_number |= tried
    return [by_number[one.case.number] for one in found]


def unsearched(
    found: Sequence[Observation], wrong: Trouble, looks: Mapping[int, int]
) -> list[Observation]:
    """Of cases behind which a target ended that nobody here can start again: those that are settled. Who was
    under way is blamed: where that are several, the last of them, and a fact names all; what the others would
    have come to is not known. looks: by a case's number, at which look at all connections it was over.
    """
    got = [one for one in found if one.ending != "refused"]
    # what was answered before a process ended can be read no later than that it ended
    answered = (looks[one.case.number] for one in got if one.replies and not _closed(one))
    last_look = max(answered, default=0)
    ended = [one for one in got if _closed(one) and looks[one.case.number] >= last_look]
    suspects = ended if wrong.death is not None else []
    suspects = suspects or [one for one in got if one.ending != "open" or one.overdue] or got
    last, *others = sorted(suspects, key=lambda one: -one.case.number)
    settled = blamed(last, wrong)
    if others:
        cases = [one.case for one in (*reversed(others), last)]
        words = [f"case {case.number}: {made_of(case.recipe)}" for case in cases]
        settled = shared(settled, cases)
        settled = replace(settled, facts=(*settled.facts, (UNDER_WAY, words)))
    return [settled if one is last else one for one in got if one not in others]


def _suspects(
    found: Sequence[Observation], wrong: Trouble, likely: Callable[[Case], bool]
) -> list[Case]:
    """Who was not answered: of those, kinds that did it before first. A process that dies closes what it
    was about last, or takes longer to die than its answer was waited for; one that hangs leaves all behind
    it unanswered."""
    if wrong.death is not None:
        left = [one.case for one in reversed(found) if _closed(one)]
        left += [one.case for one in reversed(found) if one.overdue and not _closed(one)]
    else:
        left = [one.case for one in found if one.ending != "open" or one.overdue]
    return sorted(left, key=lambda case: not likely(case))


def settle(cases: Sequence[Case], ways: Ways) -> list[Observation]:
    """An observation of each case, in order; trouble is with the case that makes it alone. If none
    does, it is with the last case of the smallest part that did, and a fact names all of that.

    Of a process that died, those cases are suspected only that were under way: who was answered keeps that.
    """
    found = ways.perform(cases)
    wrong = ways.trouble()
    return found if wrong is None else halved(found, wrong, ways)


def halved(found: Sequence[Observation], wrong: Trouble, ways: Ways) -> list[Observation]:
    """The same of cases that were run, with trouble behind them."""
    if len(found) == 1:
        return [blamed(found[0], wrong)]
    by_number = {one.case.number: one for one in found}
    for part in _suspected(found, wrong, ways):
        if ways.remains(wrong):
            by_number |= {one.case.number: one for one in settle(part, ways)}
    halves = [by_number[one.case.number] for one in found]
    if any(_troubled(one) for one in halves):
        return halves
    last = shared(blamed(halves[-1], wrong), [one.case for one in found])
    return [*halves[:-1], last]


def shared(last: Observation, cases: Sequence[Case]) -> Observation:
    """The observation of the last of several cases, which are to blame together."""
    numbers = [case.number for case in cases]
    earlier = [recipe_json(case.recipe) for case in cases[:-1]]
    return replace(last, facts=(*last.facts, (TOGETHER, numbers), (EARLIER, earlier)))


def _suspected(found: Sequence[Observation], wrong: Trouble, ways: Ways) -> list[list[Case]]:
    """What is run again: fewer cases each than there were. Of a process that died, those under way: where
    two end it together, and none alone, a bystander would be named otherwise."""
    if wrong.death is not None:
        under_way = [one.case for one in found if _closed(one) or one.overdue]
        behind = [one.case for one in found if one.ending == "refused"]
        if under_way and behind:
            return [under_way, behind]
        if under_way and len(under_way) < len(found):
            return [under_way]
    return _parts(found, wrong, ways.likely)


def _parts(
    found: Sequence[Observation], wrong: Trouble, likely: Callable[[Case], bool]
) -> list[list[Case]]:
    """What is likely first. Of a target that is well, those behind all others that were waited for, each
    alone, the first sent first: one that takes a broker seconds takes them in each part that it is in, and
    makes those wait that are behind it. Else halves."""
    suspects = [one.case for one in found]
    first = [case for case in suspects if likely(case)]
    if first and len(first) < len(suspects):
        return [first, [case for case in suspects if not likely(case)]]
    slow = [one.case for one in found if one.overdue and not wrong.ends]
    if slow:
        prompt = [one.case for one in found if not one.overdue]
        parts = [prompt, *([case] for case in slow[:SINGLY]), slow[SINGLY:]]
    else:
        middle = len(suspects) // 2
        parts = [suspects[:middle], suspects[middle:]]
    return [part for part in parts if part]


def _closed(observation: Observation) -> bool:
    return observation.ending in ("closed", "reset")


def blamed(observation: Observation, trouble: Trouble) -> Observation:
    """The observation of a case that is to blame."""
    return replace(
        observation,
        probe=trouble.probe or observation.probe,
        death=trouble.death,
        log=observation.log + trouble.log,
        rss=trouble.rss or observation.rss,
        heap=trouble.heap or observation.heap,
        facts=(*observation.facts, ("blamed", True)),
    )


def alone_to_blame(observation: Observation) -> bool:
    """Whether it was seen to make the trouble alone, and is not just the last of several."""
    return _troubled(observation) and not observation.shared


def _troubled(observation: Observation) -> bool:
    return any(name == "blamed" for name, _ in observation.facts)
