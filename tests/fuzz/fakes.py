"""A maker, a target and oracles that are a few lines each: what a campaign does with them is the test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from barnabas.fuzz.cases.case import Case, Change, Recipe, Role, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.oracles.oracle import Oracle, Verdict

SEEDS = tuple(
    Seed(3, version, "request", bytes((0, 3, 0, version)) + bytes(6), f"made:{version}")
    for version in range(5)
)


class FakeMaker:
    """Chooses a seed by energies; the mutation is the number that was drawn."""

    def __init__(self, seed: str, energies: Mapping[str, int] | None = None) -> None:
        self.seed = seed
        self.tickets = [seed for seed in SEEDS for _ in range((energies or {}).get(seed.origin, 1))]

    def case(self, number: int) -> Case:
        dice = SeededRandom(self.seed, number)
        change = Change(
            dice.pick(("null", "flip")), f"topics[{dice.below(3)}].name", dice.below(50)
        )
        return cook(Recipe(dice.pick(self.tickets), (change,)), number)

    def cases(self, numbers: range) -> list[Case]:
        return [self.case(number) for number in numbers]


def cook(recipe: Recipe, number: int) -> Case:
    draws = bytes(change.draws for change in recipe.changes)
    frame = recipe.seed.frame + draws
    return Case(number, recipe, (len(frame).to_bytes(4, "big") + frame,))


class FakeTarget:
    """Raises where the last byte is 13 or the version is 4 and the byte is below 5; says how often."""

    name = "fake 1.0"
    role: Role = "decoder"

    def __init__(self, at_once: int = 200) -> None:
        self.at_once = at_once
        self.ran: list[int] = []
        self.entered = 0

    def __enter__(self) -> Self:
        self.entered += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.entered -= 1

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for case in cases:
            self.ran.append(case.number)
            byte, version = case.chunks[0][-1], case.recipe.seed.version
            raised = ""
            if byte == 13:
                raised = f"IndexError: {byte} is out of range\n  at decode"
            elif version == 4 and byte < 5:
                raised = "KeyError: 'name'\n  at name"
            yield Observation(case, sent=case.chunks, raised=raised, log=(f"byte {byte // 10}0s",))


def _raised(observation: Observation) -> Iterator[Verdict]:
    if observation.raised:
        name = observation.raised.partition(":")[0]
        yield Verdict("raised", observation.raised.partition("\n")[0], (name,))


RAISED = Oracle("raised", "an exception", frozenset({"decoder"}), _raised, "no exception")
