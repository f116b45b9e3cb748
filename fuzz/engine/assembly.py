"""From a campaign to what runs it: its corpus, mutators, oracles, and the maker of a round's cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barnabas.fuzz.campaigns.campaign import Campaign, chosen
from barnabas.fuzz.cases.case import Role, Seed
from barnabas.fuzz.corpus.corpora import Basis, corpus
from barnabas.fuzz.engine.case_maker import Maker
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.mutators.mutator import Mutator
from barnabas.fuzz.mutators.registry import MUTATORS
from barnabas.fuzz.oracles.oracle import Oracle
from barnabas.fuzz.oracles.registry import ORACLES


@dataclass(frozen=True, slots=True)
class PreparedCampaign:
    """A campaign with the corpus, mutators and oracles that it names."""

    campaign: Campaign
    basis: Basis
    corpus: tuple[Seed, ...]
    mutators: tuple[Mutator, ...]
    oracles: tuple[Oracle, ...]

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings that tell campaigns in a database apart."""
        target = self.campaign.target
        return {**self.campaign.settings(), "target": target, "basis": self.basis.json()}

    def maker(self, energies: Mapping[str, int]) -> Maker:
        """Return the maker of a round's cases. Raises CannotRun if no mutator applies to any message."""
        try:
            return Maker(str(self.campaign.seed), self.corpus, self.mutators, energies)
        except ValueError as problem:
            raise CannotRun(str(problem)) from None


def prepare(campaign: Campaign, basis: Basis, folder: Path) -> PreparedCampaign:
    """Return a campaign with its corpus, mutators and oracles. Raises CannotRun.

    folder: the folder of the campaign's captures.
    """
    return from_corpus(campaign, basis, corpus(campaign, basis, folder))


def from_corpus(campaign: Campaign, basis: Basis, seeds: tuple[Seed, ...]) -> PreparedCampaign:
    """Return a campaign with its mutators and oracles, given its corpus. Raises CannotRun."""
    oracles = oracles_for(basis.role, campaign.oracles)
    if not oracles:
        raise CannotRun(f"none of the campaign's oracles applies to a {basis.role}")
    mutators = tuple(
        mutator.without(exclusions) if (exclusions := campaign.left_out(mutator.name)) else mutator
        for mutator in chosen(campaign.mutators, MUTATORS)
    )
    return PreparedCampaign(campaign, basis, seeds, mutators, oracles)


def oracles_for(role: Role, names: Iterable[str] = ()) -> tuple[Oracle, ...]:
    """Return the oracles for a role, of these names; all if no name is given."""
    return tuple(oracle for oracle in chosen(names, ORACLES) if role in oracle.roles)
