"""Confirmation of alarms: a case of each kind of alarm runs again, alone, while other sessions go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.json_form import recipe_json
from barnabas.fuzz.cases.observation import EARLIER, TOGETHER, Observation
from barnabas.fuzz.targets.clients.alarms import OF_SESSION, UNSURE, AlarmKind, alarm, is_own

_ONE_BY_ONE: Final = 4
"""Cases that are tried one by one: the latest."""


class _Alarm(NamedTuple):
    case_index: int
    observation: Observation
    before: Sequence[Case]


class AlarmConfirmation:
    """Confirms the alarms of one run.

    Args:
        threads: The threads that run cases again.
        confirmed: Kinds that were confirmed before; new ones are added.
        alone: Runs cases in a new process and returns the observation of the last.
        memory: Bytes that raise an alarm.
    """

    def __init__(
        self,
        threads: Executor,
        confirmed: set[AlarmKind],
        alone: Callable[[Sequence[Case]], Observation],
        memory: int,
    ) -> None:
        self._threads, self._alone, self._memory = threads, alone, memory
        self._confirmed = confirmed
        self._looked_at: dict[AlarmKind, tuple[int, Future[list[Observation]]]] = {}
        self._alike: dict[AlarmKind, list[_Alarm]] = {}
        """Further alarms of a kind that is being confirmed; they wait for the result."""

    def __len__(self) -> int:
        """Return how many alarms are being confirmed."""
        return len(self._looked_at)

    def knows(self, kind: AlarmKind) -> bool:
        """Return whether a kind was confirmed, or is being confirmed."""
        return kind in self._confirmed or kind in self._looked_at

    def see(
        self, index: int, observation: Observation, before: Sequence[Case]
    ) -> list[Observation] | None:
        """Return the observations that an alarm leads to; None if `ended` will yield them.

        before: the cases that the process ran before.
        """
        kind = alarm(observation, self._memory)
        assert kind is not None  # noqa: S101 (it is an alarm)
        if not is_own(kind, observation):
            kind = *kind, f"at {index}"  # no other alarm is of this kind
        if kind in self._confirmed:
            return [with_facts(observation, ("confirmed", True))]
        if kind in self._looked_at:
            self._alike[kind].append(_Alarm(index, observation, before))
        else:
            look = self._threads.submit(self._look, observation, kind, before)
            self._looked_at[kind] = index, look
            self._alike[kind] = []
        return None

    def ended(self) -> Iterator[tuple[int, list[Observation]]]:
        """Yield the indices and observations of alarms whose confirmation has ended."""
        for kind, (index, look) in list(self._looked_at.items()):
            if look.done():
                del self._looked_at[kind]
                yield index, look.result()
                for similar in self._alike.pop(kind):
                    observations = self.see(*similar)
                    if observations is not None:
                        yield similar.case_index, observations

    def _look(
        self, observation: Observation, kind: AlarmKind, before: Sequence[Case]
    ) -> list[Observation]:
        """Run the case of an alarm again; search the culprit if an earlier case may have caused the alarm."""
        repeated = self._alone([observation.case])
        same = alarm(repeated, self._memory)
        if same is not None:
            self._confirmed |= {kind, same}
            return [with_facts(repeated, ("confirmed", True))]
        only_this_case = kind[0] in (
            *OF_SESSION,
            UNSURE,
        )  # no earlier case can cause these
        if only_this_case or not (before or is_own(kind, observation)):
            return [with_facts(repeated, ("confirmed", False))]
        blamed = shortest_culprits(before, lambda some: self._alarming(self._alone(some)))
        if blamed is None:
            all_before = [case.number for case in (*before, observation.case)]
            return [with_facts(observation, ("confirmed", False), (TOGETHER, all_before))]
        guilty, earlier = self._alone(blamed), blamed[:-1]
        numbers = [case.number for case in earlier]
        recipes = [recipe_json(case.recipe) for case in earlier]
        facts = ("confirmed", True), ("after", numbers), (EARLIER, recipes)
        return [repeated, with_facts(guilty, *facts)]

    def _alarming(self, observation: Observation) -> bool:
        return alarm(observation, self._memory) is not None


def with_facts(observation: Observation, *facts: tuple[str, object]) -> Observation:
    """Return the observation with more facts."""
    return replace(observation, facts=(*observation.facts, *facts))


def shortest_culprits(
    before: Sequence[Case], alarming: Callable[[Sequence[Case]], bool]
) -> list[Case] | None:
    """Return the shortest run of cases, the culprit last, that raises the alarm in a new process.

    None if no run does. before: the cases, the latest last. alarming: runs cases in a new process and tells
    whether there is an alarm.
    """
    for case in list(reversed(before))[:_ONE_BY_ONE]:
        if alarming([case]):
            return [case]
    remaining = list(before)
    if not remaining or not alarming(remaining):
        return None
    while len(remaining) > 1 and alarming(remaining[:-1]):  # the last case is not the culprit
        remaining = remaining[:-1]
    step = len(remaining) // 2
    while step:
        if len(remaining) > step and alarming(remaining[step:]):
            remaining = remaining[step:]
        step = min(step // 2, len(remaining) // 2)
    return remaining
