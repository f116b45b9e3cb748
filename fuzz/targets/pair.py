"""Two targets of one role as one: each case goes to both, and where they disagree stands in the facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Final, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.observations.about import api_of
from barnabas.fuzz.targets.outcomes import Taken, difference, taken
from barnabas.fuzz.targets.target import Target

DOUBTED: Final = 4
"""How often a difference of one kind may be gone when its case is run again, before it is chance."""


class PairTarget:
    """The observation is the first's; a fact `differs` has what the case is about and what each did, where
    that is not the same, and not the same once more when the case is run alone.

    Raises Misuse for targets of different roles.
    """

    def __init__(self, first: Target, second: Target) -> None:
        if first.role != second.role or first.role == "client":
            raise Misuse(
                f"{first.name} and {second.name} can't be compared: give two brokers or two "
                "decoders"
            )
        self.name = f"{first.name} beside {second.name}"
        self.role: Role = first.role
        self._pair = first, second
        self._taken: tuple[Taken, Taken] = ({}, {})
        self._running = ExitStack()
        self._known: set[tuple[str, tuple[str, str]]] = set()
        self._doubted: Counter[tuple[str, tuple[str, str]]] = Counter()

    @property
    def at_once(self) -> int:
        """As many as both like."""
        return min(target.at_once for target in self._pair)

    @property
    def doing(self) -> str:
        """What either does beside its cases."""
        return next((said for one in self._pair if (said := getattr(one, "doing", ""))), "")

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            first, second = (stack.enter_context(target) for target in self._pair)
            self._taken = _taken(first), _taken(second)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()

    def takes(self) -> Taken:
        """API key -> the versions that both take; what only one of them offers is no case."""
        one, other = self._taken
        if not one or not other:
            return one or other
        return {key: _common(one[key], other[key]) for key in one.keys() & other.keys()}

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases on both, in order."""
        for mine, others in self._both(cases):
            found = difference(mine, others, self.role, self._taken)
            if found is not None and self._holds(mine, found):
                yield replace(mine, facts=(*mine.facts, ("differs", [self._about(mine), *found])))
            elif SET_ASIDE in dict(others.facts):  # they could not be compared
                yield replace(mine, facts=((SET_ASIDE, True),))
            else:
                yield mine

    def _both(self, cases: Sequence[Case]) -> list[tuple[Observation, Observation]]:
        first, second = (list(target.run(cases)) for target in self._pair)
        return list(zip(first, second, strict=True))

    def _holds(self, mine: Observation, found: tuple[str, str]) -> bool:
        """Whether they still disagree when the case is run once more: what came before is forgotten."""
        if self.role == "decoder":  # a function of its bytes
            return True
        kind = (self._about(mine), found)
        if kind in self._known:
            return True
        if self._doubted[kind] >= DOUBTED:
            return False
        ((again, others),) = self._both((mine.case,))
        if difference(again, others, self.role, self._taken) == found:
            self._known.add(kind)
            return True
        self._doubted[kind] += 1
        return False

    def _about(self, observation: Observation) -> str:
        """What two disagree about: brokers at an API; decoders, which read all APIs alike, at a mutation."""
        recipe = observation.case.recipe
        if self.role == "broker":
            return api_of(observation)
        changed = recipe.changes[-1].mutator if recipe.changes else "nothing changed"
        return f"{changed} in a {recipe.seed.direction}"


def _taken(target: Target) -> Taken:
    takes = getattr(target, "takes", None)
    return taken(takes()) if takes is not None else {}


def _common(one: range, other: range) -> range:
    return range(max(one.start, other.start), min(one.stop, other.stop))
