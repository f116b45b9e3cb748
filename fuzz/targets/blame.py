"""The search for the case that causes trouble with a target after a batch.

For a target that is well, cases are halved until one case alone gives the same trouble. For a target that
must be restarted, cases are tried one by one, which costs fewer starts. Pure: the functions of `Search` run
cases and check the target after them.
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
from barnabas.fuzz.targets.log_entries import template

GROWTH: Final = 64 << 20
"""Bytes of memory by which a batch may grow a process without a search."""

TRIES: Final = 6
"""Cases that are tried alone for a log entry: the nearest."""

ENTRIES: Final = 2
"""Entries of one template for which cases are tried."""

SINGLY: Final = 8
"""Overdue cases that are tried alone before the others are halved."""

HEAP_GROWTH: Final = 96 << 20
"""Bytes by which a batch may grow a heap without a search: of 256 MiB, 77 are young and full of garbage."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A problem of a target after some cases that no single observation shows."""

    probe: Probe | None = None
    death: Death | None = None
    log: tuple[str, ...] = ()
    rss: tuple[int, int] | None = None
    heap: tuple[int, int] | None = None
    near: tuple[tuple[int, ...], ...] = ()
    """For each log entry, the numbers of the cases that may have caused it, the nearest first."""

    @property
    def slow(self) -> bool:
        """Return whether a probe was not answered; while cases are in flight, the target may only be slow."""
        return self.probe is not None and not self.probe.answered

    @property
    def ends(self) -> bool:
        """Return whether the target needs a restart or a wait, which each further look costs."""
        return self.death is not None or self.slow

    @property
    def named(self) -> str:
        """Return a short name of the trouble."""
        if self.death is not None:
            return "a death"
        if self.slow:
            return "an unanswered probe"
        if self.log:
            return "a log entry"
        return "damage" if self.probe is not None and self.probe.problem else "a growth of memory"

    @property
    def alone(self) -> bool:
        """Return whether something is wrong even if a later probe is answered."""
        lost = self.probe is not None and self.probe.answered and bool(self.probe.problem)
        heap = _grown(self.heap)
        grown = (
            heap > HEAP_GROWTH or _grown(self.rss) - heap > GROWTH
        )  # a JVM grows its heap in steps
        return self.death is not None or lost or bool(self.log) or grown


def _grown(memory: tuple[int, int] | None) -> int:
    return max(memory[1] - memory[0], 0) if memory is not None else 0


@dataclass(frozen=True, slots=True)
class Search:
    """The functions of a search."""

    perform: Callable[[Sequence[Case]], list[Observation]]
    """Runs cases."""
    trouble: Callable[[], Trouble | None]
    """Returns the trouble of the target after the cases."""
    likely: Callable[[Case], bool] = lambda case: False
    """Tells whether a case is tried before others."""
    remains: Callable[[Trouble], bool] = lambda wrong: True
    """Tells whether a trouble is not known to be one case's alone; once it is, the search ends."""


def search_culprit(
    observations: Sequence[Observation], wrong: Trouble, search: Search
) -> list[Observation]:
    """Search the culprit among cases that were run; return the observations that are settled, at least one.

    If the target ended, the unanswered cases are tried alone until one ends it: two starts, however many
    cases there are. Answered cases keep their observations. The others are not settled and must be sent
    again. If no case ends the target alone, the cases are halved.

    Args:
        observations: The observations in the order in which the cases ended.
        wrong: The trouble after the cases.
        search: How cases are run.
    """
    in_order = sorted(observations, key=lambda observation: observation.case.number)
    if len(observations) == 1:
        return search_halves(in_order, wrong, search)
    if not wrong.ends:
        return _nearest(in_order, wrong, search)
    suspects = _suspects(observations, wrong, search.likely)
    settled = {
        observation.case.number: observation
        for observation in in_order
        if observation.ending != "refused"
    }
    for number in (case.number for case in suspects):
        settled.pop(number, None)
    for case in suspects:
        (observation,) = search.perform((case,))
        trouble = search.trouble()
        settled[case.number] = (
            observation if trouble is None else with_trouble(observation, trouble)
        )
        if trouble is not None and trouble.ends:
            return [settled[number] for number in sorted(settled)]
    reached = [settled[number] for number in sorted(settled)]
    return search_halves(reached or in_order, wrong, search)


def _nearest(
    observations: Sequence[Observation], wrong: Trouble, search: Search
) -> list[Observation]:
    """Search in a target that is well: try the cases nearest to log entries alone, then halve the others."""
    by_number = {observation.case.number: observation for observation in observations}
    tried: dict[int, Observation] = {}
    looked: Counter[str] = Counter()
    for entry, near in zip(wrong.log, wrong.near, strict=False):
        looked[template(entry)] += 1
        candidates = [number for number in near if number in by_number][:TRIES]
        candidates.sort(key=lambda number: by_number[number].overdue)
        for number in candidates if looked[template(entry)] <= ENTRIES else ():
            if number not in tried and search.remains(Trouble(log=(entry,))):
                (observation_alone,) = settle((by_number[number].case,), search)
                # its first observation is as valid; other cases may have removed what it needs
                tried[number] = (
                    observation_alone
                    if observation_alone.log or _troubled(observation_alone)
                    else by_number[number]
                )
    untried = [observation for observation in observations if observation.case.number not in tried]
    if untried and search.remains(wrong):
        if not any(map(_troubled, tried.values())):
            return search_halves(observations, wrong, search)
        for part in _parts(untried, wrong, search.likely):
            if search.remains(wrong):
                by_number |= {
                    observation.case.number: observation for observation in settle(part, search)
                }
    by_number |= tried
    return [by_number[observation.case.number] for observation in observations]


def blame_in_flight(
    observations: Sequence[Observation], wrong: Trouble, looks: Mapping[int, int]
) -> list[Observation]:
    """Return the settled observations of cases after which a target ended that can't be restarted.

    The cases in flight are blamed: the last of them, with a fact that names all. The observations of the
    others are unknown. looks: by a case's number, the look at all connections at which it was over.
    """
    sent = [observation for observation in observations if observation.ending != "refused"]
    # responses from before the process's end are read no later than the end
    answered = (
        looks[observation.case.number]
        for observation in sent
        if observation.replies and not _closed(observation)
    )
    last_look = max(answered, default=0)
    ended = [
        observation
        for observation in sent
        if _closed(observation) and looks[observation.case.number] >= last_look
    ]
    suspects = ended if wrong.death is not None else []
    suspects = (
        suspects
        or [
            observation
            for observation in sent
            if observation.ending != "open" or observation.overdue
        ]
        or sent
    )
    last, *others = sorted(suspects, key=lambda observation: -observation.case.number)
    settled = with_trouble(last, wrong)
    if others:
        cases = [observation.case for observation in (*reversed(others), last)]
        words = [f"case {case.number}: {made_of(case.recipe)}" for case in cases]
        settled = share_blame(settled, cases)
        settled = replace(settled, facts=(*settled.facts, (UNDER_WAY, words)))
    return [
        settled if observation is last else observation
        for observation in sent
        if observation not in others
    ]


def _suspects(
    observations: Sequence[Observation], wrong: Trouble, likely: Callable[[Case], bool]
) -> list[Case]:
    """Return the unanswered cases, those of suspected kinds first.

    A process that crashes closes the connections of its last requests, or its response is overdue. A process
    that hangs leaves all later requests unanswered.
    """
    if wrong.death is not None:
        suspects = [
            observation.case for observation in reversed(observations) if _closed(observation)
        ]
        suspects += [
            observation.case
            for observation in reversed(observations)
            if observation.overdue and not _closed(observation)
        ]
    else:
        suspects = [
            observation.case
            for observation in observations
            if observation.ending != "open" or observation.overdue
        ]
    return sorted(suspects, key=lambda case: not likely(case))


def settle(cases: Sequence[Case], search: Search) -> list[Observation]:
    """Run cases and return their observations in order; the trouble goes to the case that causes it alone.

    If no case does, the trouble goes to the last case of the smallest part that does, with a fact that names
    all of that part. If the process crashed, only cases in flight are suspected.
    """
    observations = search.perform(cases)
    wrong = search.trouble()
    return observations if wrong is None else search_halves(observations, wrong, search)


def search_halves(
    observations: Sequence[Observation], wrong: Trouble, search: Search
) -> list[Observation]:
    """Return the observations of cases after which there was trouble, by running halves of them."""
    if len(observations) == 1:
        return [with_trouble(observations[0], wrong)]
    by_number = {observation.case.number: observation for observation in observations}
    for part in _suspected(observations, wrong, search):
        if search.remains(wrong):
            by_number |= {
                observation.case.number: observation for observation in settle(part, search)
            }
    halves = [by_number[observation.case.number] for observation in observations]
    if any(_troubled(observation) for observation in halves):
        return halves
    last = share_blame(
        with_trouble(halves[-1], wrong), [observation.case for observation in observations]
    )
    return [*halves[:-1], last]


def share_blame(last: Observation, cases: Sequence[Case]) -> Observation:
    """Return the observation of the last of several cases that cause trouble together."""
    numbers = [case.number for case in cases]
    earlier = [recipe_json(case.recipe) for case in cases[:-1]]
    return replace(last, facts=(*last.facts, (TOGETHER, numbers), (EARLIER, earlier)))


def _suspected(
    observations: Sequence[Observation], wrong: Trouble, search: Search
) -> list[list[Case]]:
    """Return the groups of cases that are run again, each smaller than all.

    If the process crashed, these are the cases in flight: where two crash it together and none alone, a
    bystander would be named otherwise.
    """
    if wrong.death is not None:
        under_way = [
            observation.case
            for observation in observations
            if _closed(observation) or observation.overdue
        ]
        unsent = [
            observation.case for observation in observations if observation.ending == "refused"
        ]
        if under_way and unsent:
            return [under_way, unsent]
        if under_way and len(under_way) < len(observations):
            return [under_way]
    return _parts(observations, wrong, search.likely)


def _parts(
    observations: Sequence[Observation], wrong: Trouble, likely: Callable[[Case], bool]
) -> list[list[Case]]:
    """Return the parts of cases to try, suspected kinds first.

    In a target that is well, overdue cases are tried alone after all others, the first sent first: a case
    that takes a broker seconds would take them in each part and delay the cases after it. Else there are
    halves.
    """
    suspects = [observation.case for observation in observations]
    first = [case for case in suspects if likely(case)]
    if first and len(first) < len(suspects):
        return [first, [case for case in suspects if not likely(case)]]
    slow = [
        observation.case for observation in observations if observation.overdue and not wrong.ends
    ]
    if slow:
        prompt = [observation.case for observation in observations if not observation.overdue]
        parts = [prompt, *([case] for case in slow[:SINGLY]), slow[SINGLY:]]
    else:
        middle = len(suspects) // 2
        parts = [suspects[:middle], suspects[middle:]]
    return [part for part in parts if part]


def _closed(observation: Observation) -> bool:
    return observation.ending in ("closed", "reset")


def with_trouble(observation: Observation, trouble: Trouble) -> Observation:
    """Return the observation of a case with the trouble that it causes."""
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
    """Return whether the case causes the trouble alone, and is not the last of several."""
    return _troubled(observation) and not observation.shared


def _troubled(observation: Observation) -> bool:
    return any(name == "blamed" for name, _ in observation.facts)
