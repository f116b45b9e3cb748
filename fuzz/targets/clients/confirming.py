"""Alarms looked at again, alone, while other sessions go on: each kind of alarm once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.json_form import recipe_json
from barnabas.fuzz.cases.observation import EARLIER, TOGETHER, Observation
from barnabas.fuzz.targets.clients.alarms import HANGS, UNSURE, Kind, alarm, is_own

_ONE_BY_ONE: Final = 4
"""So many of the latest cases are tried one by one."""


class _Seen(NamedTuple):
    place: int
    observation: Observation
    before: Sequence[Case]


class Confirming:
    """Second looks at one run's alarms.

    confirmed: kinds that were, and those that are from now on. alone: runs cases in a new process, in
    `threads`, and gives the observation of the last. memory: bytes that are an alarm.
    """

    def __init__(
        self,
        threads: Executor,
        confirmed: set[Kind],
        alone: Callable[[Sequence[Case]], Observation],
        memory: int,
    ) -> None:
        self._threads, self._alone, self._memory = threads, alone, memory
        self._confirmed = confirmed
        self._looked_at: dict[Kind, tuple[int, Future[list[Observation]]]] = {}
        self._alike: dict[Kind, list[_Seen]] = {}
        """Others of a kind that is looked at: nobody looks at them before that is known."""

    def __len__(self) -> int:
        """How many are looked at."""
        return len(self._looked_at)

    def knows(self, kind: Kind) -> bool:
        """Whether it was confirmed, or will be if it is one."""
        return kind in self._confirmed or kind in self._looked_at

    def see(
        self, place: int, observation: Observation, before: Sequence[Case]
    ) -> list[Observation] | None:
        """What comes of an alarm at a place; None: it is looked at, and `ended` will say it.

        before: the cases that its process had before it.
        """
        kind = alarm(observation, self._memory)
        assert kind is not None  # noqa: S101 (it is an alarm)
        if not is_own(kind, observation):
            kind = *kind, f"at {place}"  # no other tells anything about it
        if kind in self._confirmed:
            return [with_facts(observation, ("confirmed", True))]
        if kind in self._looked_at:
            self._alike[kind].append(_Seen(place, observation, before))
        else:
            look = self._threads.submit(self._look, observation, kind, before)
            self._looked_at[kind] = place, look
            self._alike[kind] = []
        return None

    def ended(self) -> Iterator[tuple[int, list[Observation]]]:
        """Places, and what came of what was seen there."""
        for kind, (place, look) in list(self._looked_at.items()):
            if look.done():
                del self._looked_at[kind]
                yield place, look.result()
                for one in self._alike.pop(kind):
                    found = self.see(*one)
                    if found is not None:
                        yield one.place, found

    def _look(
        self, observation: Observation, kind: Kind, before: Sequence[Case]
    ) -> list[Observation]:
        """The observation, confirmed if it is one that another case may be the reason of."""
        again = self._alone([observation.case])
        same = alarm(again, self._memory)
        if same is not None:
            self._confirmed |= {kind, same}
            return [with_facts(again, ("confirmed", True))]
        own = kind[0] in (*HANGS, UNSURE)  # nothing that an earlier case does explains it
        if own or not (before or is_own(kind, observation)):
            return [with_facts(again, ("confirmed", False))]
        blamed = to_blame(before, lambda some: self._alarming(self._alone(some)))
        if blamed is None:
            all_before = [one.number for one in (*before, observation.case)]
            return [with_facts(observation, ("confirmed", False), (TOGETHER, all_before))]
        seen, earlier = self._alone(blamed), blamed[:-1]
        numbers = [one.number for one in earlier]
        recipes = [recipe_json(one.recipe) for one in earlier]
        facts = ("confirmed", True), ("after", numbers), (EARLIER, recipes)
        return [again, with_facts(seen, *facts)]

    def _alarming(self, observation: Observation) -> bool:
        return alarm(observation, self._memory) is not None


def with_facts(observation: Observation, *facts: tuple[str, object]) -> Observation:
    """The same, with more facts."""
    return replace(observation, facts=(*observation.facts, *facts))


def to_blame(
    before: Sequence[Case], alarming: Callable[[Sequence[Case]], bool]
) -> list[Case] | None:
    """The shortest run of cases, the guilty one last, that does it in a new process; None if none does.

    before: in order, the latest last. alarming: runs them in a new process and looks.
    """
    for case in list(reversed(before))[:_ONE_BY_ONE]:
        if alarming([case]):
            return [case]
    found = list(before)
    if not found or not alarming(found):
        return None
    while len(found) > 1 and alarming(found[:-1]):  # the last one did it only seemingly
        found = found[:-1]
    step = len(found) // 2
    while step:
        if len(found) > step and alarming(found[step:]):
            found = found[step:]
        step = min(step // 2, len(found) // 2)
    return found
