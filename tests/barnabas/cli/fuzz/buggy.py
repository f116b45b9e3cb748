"""Our own decoder with one bug more than it has, as a target of campaigns, and others of its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.coverage.lines import Lines, Reach, Unit
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.decoder import DecoderTarget
from barnabas.fuzz.targets.decoders import read_specs
from barnabas.fuzz.targets.registry import TargetKind
from barnabas.specs import Malformed
from tests.barnabas.cli.command import Ran, run

CAMPAIGN = """\
version: 1
target: buggy
seed: 3
apis: [Metadata]
corpora: [generated]
budget: {cases: 300}
round: 100
"""


def buggy(case: Case) -> Mapping[str, Any]:
    """Raises where a Metadata request of v4 or newer has a count above a million."""
    try:
        return read_specs(case)
    except Malformed as problem:
        seed = case.recipe.seed
        if seed.direction == "request" and seed.version >= 4 and "topics" in str(problem):
            raise ZeroDivisionError("by a count") from None
        raise


def otherwise(case: Case) -> Mapping[str, Any]:
    """Raises something else."""
    try:
        return buggy(case)
    except ZeroDivisionError:
        raise ArithmeticError("otherwise") from None


def interrupted(case: Case) -> Mapping[str, Any]:
    """Somebody presses Ctrl-C."""
    if case.number == 50:
        raise KeyboardInterrupt
    return buggy(case)


def weary(case: Case) -> Mapping[str, Any]:
    """As a broker does that such cases have ended too often: they are not sent any more."""
    return {"set_aside": "similar cases had ended it"} if case.recipe.seed.version >= 12 else {}


FILE, PARSER = Unit("p", "f", False), Unit("p", "f.read", True)


class Counted(DecoderTarget):
    """A line of it is reached by everything, another one by what is no valid message."""

    lines = 0
    meter = None

    def count(self, *, guiding: bool) -> None:
        self.lines = 1

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for one in super().run(cases):
            self.lines |= 3 if one.raised else 1
            yield one

    def reset(self) -> None:
        pass

    def reached(self) -> Reach:
        return {FILE: Lines(self.lines, 7), PARSER: Lines(0, 3)}


class Fragile:
    """As a broker that one bug ends: nothing is sent any more behind it, so nobody sees the other one."""

    def __init__(self) -> None:
        self.dead = False

    def __call__(self, case: Case) -> Mapping[str, Any]:
        if self.dead:
            return {"set_aside": "similar cases had ended it"}
        seed, change = case.recipe.seed, case.recipe.changes[-1]
        if seed.direction == "request" and seed.version >= 4 and change.path == "topics.count":
            self.dead = True
            raise ZeroDivisionError("the first")
        if seed.direction == "response" and case.number >= 60:
            raise ArithmeticError("the hidden one")
        return {}


def make(text: str, own: bool) -> DecoderTarget:
    if text == "early":
        raise KeyboardInterrupt
    if text == "missing":
        raise CannotRun("buggy:missing needs what is not here")
    kinds: dict[str, Callable[[Case], Mapping[str, Any]]] = {
        "mended": read_specs,
        "weary": weary,
        "otherwise": otherwise,
        "interrupted": interrupted,
        "fragile": Fragile(),
    }
    reads = kinds.get(text, buggy)
    kind = Counted if text == "counted" else DecoderTarget
    return kind(f"buggy {text}".strip(), reads, (Malformed, LookupError))


KIND = TargetKind("buggy", "decoder", "a decoder with a bug", "buggy", make)


def fuzz(*arguments: object) -> Ran:
    return run("fuzz", *arguments)


def finding_of(result: Ran) -> str:
    return next(str(one["name"]) for one in result.rows if one["event"] == "finding")


def over(result: Ran) -> dict[str, Any]:
    """The last event of a campaign."""
    (found,) = [one for one in result.rows if one["event"] == "over"]
    return found
