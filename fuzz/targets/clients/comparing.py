"""Two clients and one answer: who takes it, who refuses it, and what each gives to its application.

What a client does upon an answer is not the same in two libraries, nor for two APIs. So each is held against
itself with valid answers: what it does only upon the case is what it makes of it. Where one does not take the
valid answer that the case was made from, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Case, Recipe, Seed, shape_of
from barnabas.fuzz.cases.observation import Observation, is_set_aside
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.observations.changed_fields import about
from barnabas.fuzz.observations.client_answer import delivered, refusals, starts, steps, unlike
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.comparing import Both, Difference, in_order
from barnabas.plural import plural
from barnabas.specs.keys import FETCH

SAMPLES: Final = 8
"""Valid sessions of an API that are looked at before what a client does next is a sign."""

_NEVER: Final = 1 << 31
"""The number of a case that is none of the campaign's."""

_NOTHING_YET: Final = (frozenset[str](), frozenset[str]())


class ComparingClients:
    """What two clients differ in. They must run, and be `compared`."""

    again: Final = 2
    """What they do next depends on time, too."""

    def __init__(self, first: ClientTarget, second: ClientTarget) -> None:
        self.pair = first, second
        self._valid: dict[tuple[Seed, str], Both] = {}
        self._usual: dict[int, tuple[frozenset[str], ...]] = {}
        """API key -> what each does next upon a valid answer."""
        self.common = ""
        """What both ask for, in words, once it is known."""

    def takes(self) -> dict[int, list[int]]:
        """API key -> the versions that both ask for. Raises CannotRun if there are none."""
        one, other = (each.newest() for each in self.pair)
        shared = {key: min(one[key], other[key]) for key in sorted(one.keys() & other.keys())}
        both = frozenset.intersection(*(each.survey(shared) for each in self.pair))
        found = {key: sorted(v for k, v in both if k == key) for key in shared}
        found = {key: versions for key, versions in found.items() if versions}
        first, second = (each.name for each in self.pair)
        if not found:
            raise CannotRun(f"{first} and {second} ask for no version of an API in common")
        self.common = (
            f"{first} asks for {plural(len(one), 'API')}, {second} for {len(other)}; both for "
            f"{len(found)}, in {plural(sum(map(len, found.values())), 'version')}"
        )
        return found

    def prepare(self, cases: Iterable[Case]) -> list[Both]:
        """Have both take the valid answers that cases were made from, where that is not known yet; what was
        seen of these."""
        asked = dict.fromkeys((one.recipe.seed, one.recipe.session) for one in cases)
        fresh = [one for one in asked if one not in self._valid]
        for seed, session in fresh:
            if seed.key not in self._usual:
                plain = seeds([(seed.key, seed.version)])[0]
                self._may_well(seed.key, self._run([(plain, session)] * SAMPLES))
        found = self._run(fresh)
        self._valid.update(zip(fresh, found, strict=True))
        for (seed, _), both in zip(fresh, found, strict=True):
            if not shape_of(seed.origin):
                self._may_well(seed.key, [both])
        return found

    def _may_well(self, key: int, seen: Sequence[Both]) -> None:
        """What was done next upon valid answers shows nothing."""
        self._usual[key] = tuple(
            before.union(*(steps(both[side]) for both in seen if not is_set_aside(both[side])))
            for side, before in enumerate(self._usual.get(key, _NOTHING_YET))
        )

    def _run(self, asked: Sequence[tuple[Seed, str]]) -> list[Both]:
        cases = [
            Case(_NEVER + place, Recipe(seed, (), session), (_framed(seed.frame),))
            for place, (seed, session) in enumerate(asked)
        ]
        first, second = (in_order(each, cases) for each in self.pair)
        return list(zip(first, second, strict=True))

    def comparable(self, mine: Observation, others: Observation) -> bool:
        """Whether both got the case, and take the valid answer alike."""
        seed, session = mine.case.recipe.seed, mine.case.recipe.session
        valid = self._valid[seed, session]
        if any(map(is_set_aside, (mine, others, *valid))):
            return False
        if any(self._refused(one, side) for side, one in enumerate(valid)):
            return False
        return seed.key != FETCH or _records(*valid) is None

    def difference(self, mine: Observation, others: Observation) -> Difference | None:
        """What the two did differently. Of a valid answer it counts only if both take something."""
        recipe, names = mine.case.recipe, [each.name for each in self.pair]
        valid = self._valid[recipe.seed, recipe.session]
        if not recipe.changes and recipe.seed.key == FETCH and all(map(delivered, (mine, others))):
            return self._taken(mine, _records(mine, others))
        if not self.comparable(mine, others):
            return None
        refused = [self._refused(one, side) for side, one in enumerate((mine, others))]
        if recipe.seed.key == FETCH:
            refused = [
                how or _nothing(one, usual)
                for how, one, usual in zip(refused, (mine, others), valid, strict=True)
            ]
        api, *field = about(mine.case)
        if bool(refused[0]) != bool(refused[1]):
            taker, refuser = names if refused[1] else reversed(names)
            how = refused[0] or refused[1]
            kind = f"{api}: the {'second' if refused[1] else 'first'} refuses, it {how}"
            return Difference(f"{taker} accepts what {refuser} refuses: it {how}", (kind, *field))
        if any(refused):
            return None
        fetched = recipe.seed.key == FETCH
        found = _records(mine, others) if fetched else _offsets((mine, others), valid)
        return self._taken(mine, found)

    def _taken(self, mine: Observation, found: tuple[str, str, str] | None) -> Difference | None:
        if found is None:
            return None
        what, one, other = found
        api, *field = about(mine.case)
        first, second = (each.name for each in self.pair)
        words = f"{first} and {second} take {what} from one answer ({one}, {other})"
        return Difference(words, (f"{api}: {what}", *field))

    def _refused(self, observation: Observation, side: int) -> str:
        """How one refuses an answer, "" if it takes it. Of Fetch, which goes on, records say more."""
        key = observation.case.recipe.seed.key
        if found := refusals(observation):
            return found[0]
        on = key == FETCH or self._usual[key][side].issuperset(steps(observation))
        return "" if on else "does not go on"


def _framed(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame


def _nothing(observation: Observation, valid: Observation) -> str:
    """Whether none of its records reach the application."""
    return "delivers nothing" if delivered(valid) and delivered(observation) == [] else ""


def _records(mine: Observation, others: Observation) -> tuple[str, str, str] | None:
    """What two were given by a Fetch, which has the last records, if it is not the same."""
    one, other = delivered(mine), delivered(others)
    found = unlike(one, other) if one is not None and other is not None else None
    return None if found is None else (f"records of another {found[0]}", *found[1:])


def _offsets(seen: Both, valid: Both) -> tuple[str, str, str] | None:
    """From where two read on, if that is not the same; of partitions that they read alike otherwise."""
    (one, other), (usual, others) = map(starts, seen), map(starts, valid)
    for partition in sorted(one.keys() & other.keys() & usual.keys() & others.keys()):
        if usual[partition] == others[partition] and one[partition] != other[partition]:
            return "another offset to read from", str(one[partition]), str(other[partition])
    return None
