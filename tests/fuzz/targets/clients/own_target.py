"""The target with the client of the tests' own, and cases for it: words that it does."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Change, Recipe
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.targets.clients.limits import Limits
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.peers.clients.client import Client, Program

OWN = Path(__file__).with_name("own_client.py")
SEED, *OTHERS = seeds([(3, 0)])


PATIENT = Limits(hung_s=60.0)
"""However busy the machine is, nobody who goes on is taken for one that hangs."""
QUICK = Limits(hung_s=2.0)


def own_target(
    *arguments: str,
    line: Sequence[str] = (sys.executable, str(OWN)),
    kind: type[ClientTarget] = ClientTarget,
    limits: Limits = PATIENT,
    side_by_side: int = 1,
    each: bool = False,
) -> Any:
    environment = {"PYTHONPATH": str(OWN.parents[4])}
    own = Client("own", "1", lambda: Program([*line, *arguments], environment))
    return kind(own, limits=limits, side_by_side=side_by_side, each=each)


def case_of(number: int, word: bytes, *mutators: str) -> Case:
    chunk = struct.pack(">i", 4 + len(word)) + SEED.frame[:4] + word
    changes = tuple(Change(one, "topics[0].name", 0, "") for one in mutators)
    return Case(number, Recipe(SEED, changes), (chunk,))


def cases_of(*words: bytes) -> list[Case]:
    return [case_of(number, word) for number, word in enumerate(words)]


def run(*words: bytes, argument: str = "", **about: Any) -> list[Observation]:
    with own_target(*filter(None, [argument]), **about) as target:
        return list(target.run(cases_of(*words)))


def facts(observation: Observation) -> dict[str, Any]:
    return dict(observation.facts)
