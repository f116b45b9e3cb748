"""What a database of campaigns has, as plain values: campaigns, rounds, findings, what was set aside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.observation import Death, Observation
from barnabas.fuzz.engine.stats import Behaviour


class CampaignRow(NamedTuple):
    """A campaign in a database."""

    id: int
    name: str
    target: str
    settings: Mapping[str, Any]
    began: float
    seconds: float
    done: int


class RoundRow(NamedTuple):
    """A round: how many seeds had more energy than the least, and the features that were new."""

    number: int
    energies: Mapping[str, int]
    news: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding as it is kept. `smaller` is what shrinking made of its recipe, which may be the same;
    None: nobody has tried. `what`, `observation` and `capture` are of the smaller case, if that was kept."""

    campaign: int
    name: str
    oracle: str
    behaviour: tuple[str, ...]
    what: str
    cases: int
    first_case: int
    recipe: Recipe
    observation: Observation
    capture: bytes
    smaller: Recipe | None

    @property
    def to_shrink(self) -> bool:
        """Whether nobody has tried, and may: not with what ended a target nobody here can start again."""
        return self.smaller is None and self.observation.death != Death(None, "")

    @property
    def best(self) -> Recipe:
        """The smallest recipe that fires."""
        return self.smaller or self.recipe

    @property
    def seen_smaller(self) -> bool:
        """Whether what was seen is of the smallest recipe; in older databases it is of the first one."""
        return self.observation.case.recipe == self.best


class Reached(NamedTuple):
    """Lines of a unit, as bits: all, those that valid messages reached, those that any case reached."""

    all: int
    before: int
    after: int


def finding_name(behaviour: Behaviour) -> str:
    """What a finding is called, in every database: eight digits of (oracle, behaviour).

    >>> finding_name(("died", ("-11",)))
    '5435f640'
    """
    return blake2b(json.dumps(behaviour).encode(), digest_size=4).hexdigest()


class AsideRow(NamedTuple):
    """Cases of one kind that were not sent, since others of it had ended the process again and again: how
    many, the first one's number, and how that is made."""

    api: str
    version: int
    mutator: str
    cases: int
    first_case: int
    recipe: Recipe
