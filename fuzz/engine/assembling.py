"""From a campaign to what runs it: its corpus, its mutators, its oracles, and the maker of a round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barnabas.fuzz.campaigns.campaign import Campaign, chosen
from barnabas.fuzz.cases.case import Role, Seed
from barnabas.fuzz.corpus.corpora import Basis, corpus
from barnabas.fuzz.engine.making import Maker
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.mutators.mutator import Mutator
from barnabas.fuzz.mutators.registry import MUTATORS
from barnabas.fuzz.oracles.oracle import Oracle
from barnabas.fuzz.oracles.registry import ORACLES


@dataclass(frozen=True, slots=True)
class Assembled:
    """A campaign with all that it names."""

    campaign: Campaign
    basis: Basis
    corpus: tuple[Seed, ...]
    mutators: tuple[Mutator, ...]
    oracles: tuple[Oracle, ...]

    @property
    def settings(self) -> dict[str, Any]:
        """All that tells a campaign from another one in a database."""
        target = self.campaign.target
        return {**self.campaign.settings(), "target": target, "basis": self.basis.json()}

    def maker(self, energies: Mapping[str, int]) -> Maker:
        """The maker of a round's cases. Raises CannotRun if there is nothing to do."""
        try:
            return Maker(str(self.campaign.seed), self.corpus, self.mutators, energies)
        except ValueError as problem:
            raise CannotRun(str(problem)) from None


def assembled(campaign: Campaign, basis: Basis, folder: Path) -> Assembled:
    """All that a campaign needs beside its target. folder: where its captures are. Raises CannotRun."""
    return from_corpus(campaign, basis, corpus(campaign, basis, folder))


def from_corpus(campaign: Campaign, basis: Basis, seeds: tuple[Seed, ...]) -> Assembled:
    """The same, where its messages are at hand already. Raises CannotRun."""
    oracles = oracles_for(basis.role, campaign.oracles)
    if not oracles:
        raise CannotRun(f"none of the campaign's oracles applies to a {basis.role}")
    mutators = tuple(
        mutator.without(left) if (left := campaign.left_out(mutator.name)) else mutator
        for mutator in chosen(campaign.mutators, MUTATORS)
    )
    return Assembled(campaign, basis, seeds, mutators, oracles)


def oracles_for(role: Role, names: Iterable[str] = ()) -> tuple[Oracle, ...]:
    """Those of these names (all if none is given) that can judge what such a target shows."""
    return tuple(oracle for oracle in chosen(names, ORACLES) if role in oracle.roles)
