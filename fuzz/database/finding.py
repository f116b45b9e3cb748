"""The records of a database as plain values: campaigns, rounds, findings, cases set aside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.observation import QUIET, Death, Observation
from barnabas.fuzz.engine.stats import FindingKey

HUNG: Final = "client-hung"
"""The oracle of clients that hang."""


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
    """A round: its energies, and the number of new features; None while it runs."""

    number: int
    energies: Mapping[str, int]
    news: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding in a database.

    `smaller` is the shrunk recipe, which may equal `recipe`; None if nobody has tried. `what`, `observation`
    and `capture` are the smaller case's, if they were stored.
    """

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
        """Return whether the finding should still be shrunk.

        A target elsewhere that ended can't be restarted, so its findings are not.
        """
        return self.smaller is None and self.observation.death != Death(None, "")

    @property
    def to_confirm(self) -> bool:
        """Return whether the finding is a hang that did not occur again yet with no other session running.

        Shrinking runs one session at a time, so a hang with a smaller recipe is confirmed.
        """
        if self.oracle != HUNG or self.smaller not in (None, self.recipe):
            return False
        return QUIET not in dict(self.observation.facts)

    @property
    def best(self) -> Recipe:
        """Return the smallest recipe that fires."""
        return self.smaller or self.recipe

    @property
    def seen_smaller(self) -> bool:
        """Return whether the observation is the smallest recipe's.

        In older databases it is the first recipe's.
        """
        return self.observation.case.recipe == self.best


class Reached(NamedTuple):
    """Lines of a unit, as bits: all, those that valid messages reached, those that any case reached."""

    all: int
    before: int
    after: int


def finding_name(key: FindingKey) -> str:
    """Return a finding's name, equal in every database: eight digits of what tells it from others.

    >>> finding_name(("died", ("-11",)))
    '5435f640'
    """
    return blake2b(json.dumps(key).encode(), digest_size=4).hexdigest()


class AsideRow(NamedTuple):
    """Cases of one kind that were not judged.

    reason: "" in databases that have none. first_case: the number of the first. recipe: how it is made.
    """

    api: str
    version: int
    mutator: str
    reason: str
    cases: int
    first_case: int
    recipe: Recipe
