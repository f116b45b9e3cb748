"""A target of two targets with one role: both get each case, and the facts name the differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Final, NamedTuple, Protocol, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import DIFFERS, NOT_COMPARABLE, SET_ASIDE, Observation
from barnabas.fuzz.targets.target import Target

DOUBTED: Final = 4
"""Differences of one kind that may vanish in a repetition before the kind counts as chance."""


Both = tuple[Observation, Observation]
"""The observations of one case by both targets."""


class Difference(NamedTuple):
    """A difference as a message, and what tells it from others."""

    message: str
    kind: tuple[str, ...]


class Comparison(Protocol):
    """Compares the observations of two targets, which must run."""

    @property
    def pair(self) -> tuple[Target, Target]:
        """Return the two targets."""
        ...

    @property
    def common(self) -> str:
        """Return what can be compared, as a message; "" while that is unknown."""
        ...

    @property
    def again(self) -> int:
        """Return how often a difference must show again before it counts."""
        ...

    def supported_versions(self) -> Mapping[int, Iterable[int]]:
        """Return the versions that both targets support, by API key. Raises CannotRun if there are none."""
        ...

    def prepare(self, cases: Sequence[Case]) -> Sequence[Both]:
        """Run what the cases are compared with on both targets; return the new observations."""
        ...

    def comparable(self, mine: Observation, others: Observation) -> bool:
        """Return whether two observations of a case can be compared."""
        ...

    def difference(self, mine: Observation, others: Observation) -> Difference | None:
        """Return what the two targets did differently, or None."""
        ...


def in_order(target: Target, cases: Sequence[Case]) -> list[Observation]:
    """Return an observation of each case, without those of earlier cases that are to blame."""
    return [
        observation for observation in target.run(cases) if "after" not in dict(observation.facts)
    ]


class PairTarget:
    """Two targets that get the same cases; the observation is the first one's.

    If the targets differ, and differ again when the case runs alone, the fact DIFFERS describes it.
    """

    def __init__(self, comparing: Comparison) -> None:
        first, second = self._pair = comparing.pair
        self._comparing = comparing
        self.name = f"{first.name} beside {second.name}"
        self.role: Role = first.role
        self._running = ExitStack()
        self._known: set[tuple[str, ...]] = set()
        self._doubted: Counter[tuple[str, ...]] = Counter()

    @property
    def at_once(self) -> int:
        """Return the smaller of both targets' numbers of cases."""
        return min(target.at_once for target in self._pair)

    @property
    def doing(self) -> str:
        """Return the current activity of either target other than new cases, as a message."""
        return next(
            (activity for target in self._pair if (activity := getattr(target, "doing", ""))), ""
        )

    @property
    def common(self) -> str:
        """Return what can be compared, as a message; "" while that is unknown."""
        return self._comparing.common

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for target in self._pair:
                stack.enter_context(target)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()

    def supported_versions(self) -> Mapping[int, Iterable[int]]:
        """Return the versions that both targets support, by API key. Raises CannotRun if there are none."""
        return self._comparing.supported_versions()

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases on both targets, in order."""
        valid = self._comparing.prepare(cases)
        for mine, others in self._both(cases):
            difference = self._comparing.difference(mine, others)
            if difference is not None and self._holds(mine, difference.kind):
                yield _told(mine, difference)
            elif not self._comparing.comparable(mine, others):
                yield replace(mine, facts=((SET_ASIDE, NOT_COMPARABLE),))
            else:
                yield mine
        for mine, others in valid:  # no case's own; reported with the last one
            difference = self._comparing.difference(mine, others)
            if difference is not None:
                case = mine.case._replace(number=cases[-1].number)
                yield _told(replace(mine, case=case), difference)

    def _both(self, cases: Sequence[Case]) -> list[Both]:
        first, second = (in_order(side, cases) for side in self._pair)
        return list(zip(first, second, strict=True))

    def _holds(self, mine: Observation, kind: tuple[str, ...]) -> bool:
        """Return whether the targets still differ when the case runs once more."""
        if kind in self._known:
            return True
        if self._doubted[kind] >= DOUBTED:
            return False
        for _ in range(self._comparing.again):
            ((repeated, others),) = self._both((mine.case,))
            difference = self._comparing.difference(repeated, others)
            if difference is None or difference.kind != kind:
                self._doubted[kind] += 1
                return False
        self._known.add(kind)
        return True


def _told(mine: Observation, difference: Difference) -> Observation:
    return replace(mine, facts=(*mine.facts, (DIFFERS, [difference.message, *difference.kind])))
