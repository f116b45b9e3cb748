"""A comparison of two clients with one response: which accepts it, and what each gives to its application.

What a client does after a response differs between libraries and APIs. So each client is compared with itself
on valid responses: what it does only upon the case is its reaction to it. If a client does not accept the
valid response that the case was made from, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Recipe, Seed, shape_of
from barnabas.fuzz.cases.observation import Observation, is_set_aside
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.observations.case_labels import api_and_field
from barnabas.fuzz.observations.client_answer import (
    delivered_records,
    first_difference,
    first_offsets,
    next_steps,
    refusals,
)
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.pair import Both, Difference, in_order
from barnabas.plural import plural
from barnabas.specs.keys import FETCH

SAMPLES: Final = 8
"""Valid sessions of an API that are observed before a client's next request is a sign."""

_NEVER: Final = 1 << 31
"""The first number of cases that are not the campaign's."""

_NOTHING_YET: Final = (frozenset[str](), frozenset[str]())


class ClientComparison:
    """Compares two clients, which must run and be made by `ClientTarget.compared`."""

    again: Final = 2
    """What a client does next depends on time, too."""

    def __init__(self, first: ClientTarget, second: ClientTarget) -> None:
        self.pair = first, second
        self._valid: dict[tuple[Seed, str], Both] = {}
        self._usual: dict[int, tuple[frozenset[str], ...]] = {}
        """API key -> what each client does next upon a valid response."""
        self.common = ""
        """What both clients request, as a message, once it is known."""

    def supported_versions(self) -> dict[int, list[int]]:
        """Return the versions that both clients request, by API key. Raises CannotRun if there are none."""
        mine, others = (client.newest() for client in self.pair)
        shared = {key: min(mine[key], others[key]) for key in sorted(mine.keys() & others.keys())}
        both = frozenset.intersection(*(client.survey(shared) for client in self.pair))
        by_api = {key: sorted(v for k, v in both if k == key) for key in shared}
        by_api = {key: versions for key, versions in by_api.items() if versions}
        first, second = (client.name for client in self.pair)
        if not by_api:
            raise CannotRun(f"{first} and {second} ask for no version of an API in common")
        self.common = (
            f"{first} asks for {plural(len(mine), 'API')}, {second} for {len(others)}; both for "
            f"{len(by_api)}, in {plural(sum(map(len, by_api.values())), 'version')}"
        )
        return by_api

    def prepare(self, cases: Iterable[Case]) -> list[Both]:
        """Give both clients the valid responses of the cases' seeds, if new; return the observations."""
        seeds_needed = dict.fromkeys(
            (needed.recipe.seed, needed.recipe.session) for needed in cases
        )
        missing = [needed for needed in seeds_needed if needed not in self._valid]
        for seed, session in missing:
            if seed.key not in self._usual:
                plain = seeds([(seed.key, seed.version)])[0]
                self._may_well(seed.key, self._run([(plain, session)] * SAMPLES))
        observations = self._run(missing)
        self._valid.update(zip(missing, observations, strict=True))
        for (seed, _), both in zip(missing, observations, strict=True):
            if not shape_of(seed.origin):
                self._may_well(seed.key, [both])
        return observations

    def _may_well(self, key: int, pairs: Sequence[Both]) -> None:
        """Add what clients did next upon valid responses to what shows nothing."""
        self._usual[key] = tuple(
            before.union(
                *(next_steps(pair[side]) for pair in pairs if not is_set_aside(pair[side]))
            )
            for side, before in enumerate(self._usual.get(key, _NOTHING_YET))
        )

    def _run(self, seeds_and_sessions: Sequence[tuple[Seed, str]]) -> list[Both]:
        cases = [
            Case(_NEVER + index, Recipe(seed, (), session), (_framed(seed.frame),))
            for index, (seed, session) in enumerate(seeds_and_sessions)
        ]
        first, second = (in_order(each, cases) for each in self.pair)
        return list(zip(first, second, strict=True))

    def comparable(self, mine: Observation, others: Observation) -> bool:
        """Return whether both clients got the case, and accept the valid response alike."""
        seed, session = mine.case.recipe.seed, mine.case.recipe.session
        valid = self._valid[seed, session]
        if any(map(is_set_aside, (mine, others, *valid))):
            return False
        if any(self._refused(observation, side) for side, observation in enumerate(valid)):
            return False
        return seed.key != FETCH or _records(*valid) is None

    def difference(self, mine: Observation, others: Observation) -> Difference | None:
        """Return what the two clients did differently; None if nothing.

        For a valid response, a difference counts only if both deliver records.
        """
        recipe, names = mine.case.recipe, [each.name for each in self.pair]
        valid = self._valid[recipe.seed, recipe.session]
        if (
            not recipe.changes
            and recipe.seed.key == FETCH
            and all(map(delivered_records, (mine, others)))
        ):
            return self._taken(mine, _records(mine, others))
        if not self.comparable(mine, others):
            return None
        refused = [
            self._refused(observation, side) for side, observation in enumerate((mine, others))
        ]
        if recipe.seed.key == FETCH:
            refused = [
                how or _nothing_delivered(observation, valid_observation)
                for how, observation, valid_observation in zip(
                    refused, (mine, others), valid, strict=True
                )
            ]
        api, *field = api_and_field(mine.case)
        if bool(refused[0]) != bool(refused[1]):
            taker, refuser = names if refused[1] else reversed(names)
            how = refused[0] or refused[1]
            kind = f"{api}: the {'second' if refused[1] else 'first'} refuses, it {how}"
            return Difference(f"{taker} accepts what {refuser} refuses: it {how}", (kind, *field))
        if any(refused):
            return None
        fetched = recipe.seed.key == FETCH
        differing_values = _records(mine, others) if fetched else _offsets((mine, others), valid)
        return self._taken(mine, differing_values)

    def _taken(
        self, mine: Observation, differing_values: tuple[str, str, str] | None
    ) -> Difference | None:
        if differing_values is None:
            return None
        quantity, my_value, other_value = differing_values
        api, *field = api_and_field(mine.case)
        first, second = (each.name for each in self.pair)
        words = f"{first} and {second} take {quantity} from one answer ({my_value}, {other_value})"
        return Difference(words, (f"{api}: {quantity}", *field))

    def _refused(self, observation: Observation, side: int) -> str:
        """Return how a client refuses a response, "" if it accepts it.

        For Fetch the delivered records say more than its next request.
        """
        key = observation.case.recipe.seed.key
        if reasons := refusals(observation):
            return reasons[0]
        on = key == FETCH or self._usual[key][side].issuperset(next_steps(observation))
        return "" if on else "does not go on"


def _framed(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame


def _nothing_delivered(observation: Observation, valid: Observation) -> str:
    """Return a message if none of the records reach the application, else ""."""
    return (
        "delivers nothing"
        if delivered_records(valid) and delivered_records(observation) == []
        else ""
    )


def _records(mine: Observation, others: Observation) -> tuple[str, str, str] | None:
    """Return what differs in the records of a Fetch, which were the last ones."""
    my_records, other_records = delivered_records(mine), delivered_records(others)
    difference = (
        first_difference(my_records, other_records)
        if my_records is not None and other_records is not None
        else None
    )
    return None if difference is None else (f"records of another {difference[0]}", *difference[1:])


def _offsets(observations: Both, valid: Both) -> tuple[str, str, str] | None:
    """Return the offsets from which two clients read on, if they differ on a partition that is else alike."""
    (my_starts, other_starts), (my_valid, other_valid) = (
        map(first_offsets, observations),
        map(first_offsets, valid),
    )
    for partition in sorted(
        my_starts.keys() & other_starts.keys() & my_valid.keys() & other_valid.keys()
    ):
        if (
            my_valid[partition] == other_valid[partition]
            and my_starts[partition] != other_starts[partition]
        ):
            return (
                "another offset to read from",
                str(my_starts[partition]),
                str(other_starts[partition]),
            )
    return None
