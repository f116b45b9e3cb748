"""The database of campaigns, read: where each stands, what it covered, what it found.

A finding stays a user's own: nothing of this leaves the machine. Times are Unix seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.json_form import (
    observation_json,
    observation_of,
    recipe_json,
    recipe_of,
)
from barnabas.fuzz.coverage.lines import Unit
from barnabas.fuzz.database.database import Database, FindingsError, NoDatabaseError
from barnabas.fuzz.database.evidence import capture
from barnabas.fuzz.database.finding import (
    AsideRow,
    CampaignRow,
    Finding,
    Reached,
    RoundRow,
    finding_name,
)
from barnabas.fuzz.database.keeping import Kept
from barnabas.fuzz.engine.stats import Cell, Found

__all__ = [
    "AsideRow", "CampaignRow", "Finding", "Findings", "FindingsError", "Kept", "NoDatabaseError",
    "Reached", "RoundRow", "finding_name",
]  # fmt: skip


class Findings:
    """A database, from `with` to its end. Raises FindingsError if it can't be used.

    write: make it if it is not there. Others may read while one writes.
    """

    def __init__(self, path: Path, *, write: bool) -> None:
        self.path = path
        self._database = Database(path, write=write)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._database.close()

    def campaign(self, name: str, target: str, settings: Mapping[str, Any], now: float) -> Kept:
        """A campaign that begins, or goes on if it is here already."""
        text = json.dumps(settings, sort_keys=True)
        with self._database.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO campaigns (name, target, settings, began) VALUES (?, ?, ?, ?)",
                (name, target, text, now),
            )
        number: int = self._database.one(
            "SELECT id FROM campaigns WHERE (name, target, settings) = (?, ?, ?)",
            name, target, text,
        )  # fmt: skip
        return Kept(self._database, number)

    def campaigns(self) -> list[CampaignRow]:
        """All campaigns, the latest last."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT id, name, target, settings, began, seconds, done FROM campaigns ORDER BY id"
            )
            return [
                CampaignRow(
                    *(number, name, target, json.loads(settings)),
                    *(float(began), float(seconds), int(done)),
                )
                for number, name, target, settings, began, seconds, done in rows
            ]

    def rounds(self, campaign: int) -> list[RoundRow]:
        """A campaign's rounds, in order."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT number, energies, news FROM rounds WHERE campaign = ? ORDER BY number",
                (campaign,),
            )
            return [
                RoundRow(int(number), json.loads(energies), None if news is None else int(news))
                for number, energies, news in rows
            ]

    def coverage(self, campaign: int) -> dict[Cell, int]:
        """How many cases covered each place."""
        return self._database.cells("coverage", campaign)

    def features(self, campaign: int) -> dict[str, int]:
        """The features that were reached, and the first case of each."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT feature, first_case FROM features WHERE campaign = ?", (campaign,)
            )
            return dict(rows.fetchall())

    def findings(self, campaign: int | None = None, prefix: str = "") -> list[Finding]:
        """Findings of a campaign (of all if None) by the beginning of their names, the first found first."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT campaign, name, oracle, behaviour, what, cases, first_case, recipe, observation,"
                " capture, smaller FROM findings WHERE (?1 IS NULL OR campaign = ?1)"
                " AND substr(name, 1, ?2) = ?3 ORDER BY campaign, first_case, name",
                (campaign, len(prefix), prefix),
            )
            return [_finding(row) for row in rows]

    def triggers(self, name: str) -> list[Cell]:
        """The places at which cases of one change made a finding fire, in any campaign."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT DISTINCT api, version, field, mutator FROM triggers WHERE name = ?"
                " ORDER BY api, field, mutator, version",
                (name,),
            )
            return [Cell(*row) for row in rows]

    def reached(self, campaign: int) -> dict[Unit, Reached]:
        """The lines that a campaign reached, if it counted them."""
        return self._database.reached(campaign)

    def as_valid(self, campaign: int) -> dict[Cell, int]:
        """How many cases of each place showed nothing but what valid messages show, if it counted."""
        return self._database.cells("as_valid", campaign)

    def aside(self, campaign: int | None = None) -> list[AsideRow]:
        """What a campaign (all if None) did not send, by kind, the most first."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT api, version, mutator, cases, first_case, recipe FROM aside"
                " WHERE (?1 IS NULL OR campaign = ?1) ORDER BY cases DESC, api, version, mutator",
                (campaign,),
            )
            return [
                AsideRow(api, version, mutator, cases, first, recipe_of(recipe))
                for api, version, mutator, cases, first, recipe in rows
            ]

    def smaller(self, finding: Finding, recipe: Recipe, found: Found | None = None) -> None:
        """Keep what shrinking made of a finding. found: what the smaller case came to, in the place of what
        the first one had come to."""
        with self._database.writing() as db:
            if found is not None:
                seen = found.observation
                db.execute(
                    "UPDATE findings SET (what, observation, log, capture) = (?, ?, ?, ?)"
                    " WHERE (campaign, name) = (?, ?)",
                    (found.verdict.what, observation_json(seen), "\n".join(seen.log),
                     capture(seen), finding.campaign, finding.name),
                )  # fmt: skip
            db.execute(
                "UPDATE findings SET smaller = ? WHERE (campaign, name) = (?, ?)",
                (recipe_json(recipe), finding.campaign, finding.name),
            )


def _finding(row: tuple[Any, ...]) -> Finding:
    campaign, name, oracle, behaviour, what, cases, first_case, *evidence = row
    recipe, observation, captured, smaller = evidence
    return Finding(
        *(campaign, name, oracle, tuple(json.loads(behaviour)), what, cases, first_case),
        *(recipe_of(recipe), observation_of(observation), captured),
        None if smaller is None else recipe_of(smaller),
    )
