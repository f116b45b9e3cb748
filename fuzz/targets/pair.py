"""Two targets of one role as one: each case goes to both, and where they disagree stands in the facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Final, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import DIFFERS, SET_ASIDE, Observation
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.targets.clients.comparing import ComparingClients
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.comparing import Both, ComparingOutcomes, Difference, in_order
from barnabas.fuzz.targets.target import Target

DOUBTED: Final = 4
"""How often a difference of one kind may be gone when its case is run again, before it is chance."""


def beside(first: Target, second: Target) -> PairTarget:
    """Two targets as one. Raises Misuse for targets of different roles."""
    if isinstance(first, ClientTarget) and isinstance(second, ClientTarget):
        return PairTarget(ComparingClients(first.compared(), second.compared()))
    if first.role != second.role:
        raise Misuse(
            f"{first.name} and {second.name} can't be compared: give two brokers, two decoders or "
            "two clients"
        )
    return PairTarget(ComparingOutcomes(first, second))


class PairTarget:
    """The observation is the first's; the fact DIFFERS has in words what each did and what tells that from
    other differences, where it is not the same, and not the same once more when the case is run alone."""

    def __init__(self, comparing: ComparingOutcomes | ComparingClients) -> None:
        first, second = self._pair = comparing.pair
        self._comparing = comparing
        self.name = f"{first.name} beside {second.name}"
        self.role: Role = first.role
        self._running = ExitStack()
        self._known: set[tuple[str, ...]] = set()
        self._doubted: Counter[tuple[str, ...]] = Counter()

    @property
    def at_once(self) -> int:
        """As many as both like."""
        return min(target.at_once for target in self._pair)

    @property
    def doing(self) -> str:
        """What either does beside its cases."""
        return next((said for one in self._pair if (said := getattr(one, "doing", ""))), "")

    @property
    def common(self) -> str:
        """What can be compared, in words, once that is known."""
        return self._comparing.common

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for target in self._pair:
                stack.enter_context(target)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()

    def takes(self) -> Mapping[int, Iterable[int]]:
        """API key -> the versions that both take. Raises CannotRun if there are none."""
        return self._comparing.takes()

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases on both, in order."""
        valid = self._comparing.prepare(cases)
        for mine, others in self._both(cases):
            found = self._comparing.difference(mine, others)
            if found is not None and self._holds(mine, found.kind):
                yield _told(mine, found)
            elif not self._comparing.comparable(mine, others):
                yield replace(mine, facts=((SET_ASIDE, True),))
            else:
                yield mine
        for mine, others in valid:  # nobody's case, and told with the last one
            found = self._comparing.difference(mine, others)
            if found is not None:
                case = mine.case._replace(number=cases[-1].number)
                yield _told(replace(mine, case=case), found)

    def _both(self, cases: Sequence[Case]) -> list[Both]:
        first, second = (in_order(target, cases) for target in self._pair)
        return list(zip(first, second, strict=True))

    def _holds(self, mine: Observation, kind: tuple[str, ...]) -> bool:
        """Whether they still disagree when the case is run once more: what came before is forgotten."""
        if kind in self._known:
            return True
        if self._doubted[kind] >= DOUBTED:
            return False
        for _ in range(self._comparing.again):
            ((again, others),) = self._both((mine.case,))
            found = self._comparing.difference(again, others)
            if found is None or found.kind != kind:
                self._doubted[kind] += 1
                return False
        self._known.add(kind)
        return True


def _told(mine: Observation, found: Difference) -> Observation:
    return replace(mine, facts=(*mine.facts, (DIFFERS, [found.what, *found.kind])))
