"""Two targets of one role as one: each case goes to both, and where they disagree stands in the facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Final, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import SET_ASIDE, Observation
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.observations.about import api_of
from barnabas.fuzz.targets.clients.comparing import Comparing, Difference, in_order
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.outcomes import Taken, difference, taken
from barnabas.fuzz.targets.target import Target

CLIENTS: Final = 200
"""Cases that two clients are best given at once: both have each before anything is known of it."""

AGAIN: Final = 2
"""So often a difference of clients has to be seen again: what they do next depends on time, too."""

DOUBTED: Final = 4
"""How often a difference of one kind may be gone when its case is run again, before it is chance."""


class PairTarget:
    """The observation is the first's; a fact `differs` has what the case is about and what each did, where
    that is not the same, and not the same once more when the case is run alone. Of clients the fact is
    `clients_differ`: the difference in words, and what tells it from others.

    Raises Misuse for targets of different roles.
    """

    def __init__(self, first: Target, second: Target) -> None:
        if first.role != second.role:
            raise Misuse(
                f"{first.name} and {second.name} can't be compared: give two brokers, two decoders or "
                "two clients"
            )
        self.name = f"{first.name} beside {second.name}"
        self.role: Role = first.role
        self._pair = first, second
        self._taken: tuple[Taken, Taken] = ({}, {})
        self._running = ExitStack()
        self._clients: Comparing | None = None
        if isinstance(first, ClientTarget) and isinstance(second, ClientTarget):
            self._clients = Comparing(first, second)
        self._known: set[tuple[str, ...]] = set()
        self._doubted: Counter[tuple[str, ...]] = Counter()

    @property
    def at_once(self) -> int:
        """As many as both like."""
        least = min(target.at_once for target in self._pair)
        return least if self._clients is None else min(least, CLIENTS)

    @property
    def doing(self) -> str:
        """What either does beside its cases."""
        return next((said for one in self._pair if (said := getattr(one, "doing", ""))), "")

    @property
    def common(self) -> str:
        """What can be compared of two clients, in words, once that is known."""
        return "" if self._clients is None else self._clients.common

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            first, second = (stack.enter_context(target) for target in self._pair)
            self._taken = _taken(first), _taken(second)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()

    def takes(self) -> Mapping[int, Iterable[int]]:
        """API key -> the versions that both take; what only one of them offers is no case. Of clients:
        that both ask for; raises CannotRun if there are none."""
        if self._clients is not None:
            return self._clients.takes()
        one, other = self._taken
        if not one or not other:
            return one or other
        return {key: _common(one[key], other[key]) for key in one.keys() & other.keys()}

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases on both, in order."""
        valid = [] if self._clients is None else self._clients.prepare(cases)
        fact = "differs" if self._clients is None else "clients_differ"
        for mine, others in self._both(cases):
            found = self._difference(mine, others)
            if found is not None and self._holds(mine, found.kind):
                told = found.kind if self._clients is None else (found.what, *found.kind)
                yield replace(mine, facts=(*mine.facts, (fact, [*told])))
            elif self._incomparable(mine, others):
                yield replace(mine, facts=((SET_ASIDE, True),))
            else:
                yield mine
        for mine, others in valid:  # nobody's case, and told with the last one
            found = self._difference(mine, others)
            if found is not None:
                case = mine.case._replace(number=cases[-1].number)
                yield replace(
                    mine, case=case, facts=(*mine.facts, (fact, [found.what, *found.kind]))
                )

    def _both(self, cases: Sequence[Case]) -> list[tuple[Observation, Observation]]:
        first, second = (
            in_order(target, cases) if isinstance(target, ClientTarget) else list(target.run(cases))
            for target in self._pair
        )
        return list(zip(first, second, strict=True))

    def _difference(self, mine: Observation, others: Observation) -> Difference | None:
        if self._clients is not None:
            return self._clients.difference(mine, others)
        found = difference(mine, others, self.role, self._taken)
        return None if found is None else Difference("", (self._about(mine), *found))

    def _incomparable(self, mine: Observation, others: Observation) -> bool:
        if self._clients is not None:
            return not self._clients.comparable(mine, others)
        return SET_ASIDE in dict(others.facts)

    def _holds(self, mine: Observation, kind: tuple[str, ...]) -> bool:
        """Whether they still disagree when the case is run once more: what came before is forgotten."""
        if self.role == "decoder":  # a function of its bytes
            return True
        if kind in self._known:
            return True
        if self._doubted[kind] >= DOUBTED:
            return False
        for _ in range(1 if self._clients is None else AGAIN):
            ((again, others),) = self._both((mine.case,))
            found = self._difference(again, others)
            if found is None or found.kind != kind:
                self._doubted[kind] += 1
                return False
        self._known.add(kind)
        return True

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
