"""Two brokers or two decoders, and one case: what each makes of it, in the words of `outcomes`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation, is_set_aside
from barnabas.fuzz.observations.about import api_of
from barnabas.fuzz.targets.outcomes import Taken, difference, taken
from barnabas.fuzz.targets.target import Target

Both = tuple[Observation, Observation]


class Difference(NamedTuple):
    """In words, and what tells it from others."""

    what: str
    kind: tuple[str, ...]


class ComparingOutcomes:
    """What two brokers or decoders differ in. They must run."""

    common: Final = ""

    def __init__(self, first: Target, second: Target) -> None:
        self.pair = first, second
        self._decoders = first.role == "decoder"
        self.again = 0 if self._decoders else 1  # a decoder is a function of its bytes

    @cached_property
    def _taken(self) -> tuple[Taken, Taken]:
        first, second = (_taken(one) for one in self.pair)
        return first, second

    def takes(self) -> Taken:
        """API key -> the versions that both take; what only one of them offers is no case."""
        one, other = self._taken
        if not one or not other:
            return one or other
        return {
            key: range(max(one[key].start, other[key].start), min(one[key].stop, other[key].stop))
            for key in one.keys() & other.keys()
        }

    def prepare(self, cases: Sequence[Case]) -> Sequence[Both]:
        """Nothing: no case is compared with another."""
        return ()

    def comparable(self, mine: Observation, others: Observation) -> bool:
        """Whether the other one got the case, too."""
        return not is_set_aside(others)

    def difference(self, mine: Observation, others: Observation) -> Difference | None:
        """What the two did differently, by their names."""
        found = difference(mine, others, self.pair[0].role, self._taken)
        if found is None:
            return None
        about, (one, other) = self._about(mine), found
        first, second = (target.name for target in self.pair)
        return Difference(f"{about}: {first}: {one}; {second}: {other}", (about, one, other))

    def _about(self, observation: Observation) -> str:
        """What two disagree about: brokers at an API; decoders, which read all APIs alike, at a mutation."""
        if not self._decoders:
            return api_of(observation)
        recipe = observation.case.recipe
        changed = recipe.changes[-1].mutator if recipe.changes else "nothing changed"
        return f"{changed} in a {recipe.seed.direction}"


def in_order(target: Target, cases: Sequence[Case]) -> list[Observation]:
    """An observation of each; not those of earlier cases that were to blame, which come again."""
    return [one for one in target.run(cases) if "after" not in dict(one.facts)]


def _taken(target: Target) -> Taken:
    takes = getattr(target, "takes", None)
    return taken(takes()) if takes is not None else {}
