"""The database of campaigns, read: progress, coverage and findings.

Findings stay on the user's machine. Times are Unix seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.json_form import (
    observation_json,
    observation_of,
    recipe_json,
    recipe_of,
)
from barnabas.fuzz.cases.observation import QUIET
from barnabas.fuzz.coverage.lines import Unit
from barnabas.fuzz.database.database import (
    ADD_ASIDE,
    ASIDE,
    ASIDE_WITH_REASONS,
    OLD_ASIDE,
    Database,
    FindingsError,
    NoDatabaseError,
)
from barnabas.fuzz.database.evidence import capture
from barnabas.fuzz.database.finding import (
    HUNG,
    AsideRow,
    CampaignRow,
    Finding,
    Reached,
    RoundRow,
    finding_name,
)
from barnabas.fuzz.database.store import StoredCampaign
from barnabas.fuzz.engine.stats import Cell, Detection, case_kind

__all__ = [
    "HUNG", "AsideRow", "CampaignRow", "Finding", "Findings", "FindingsError", "NoDatabaseError",
    "Reached", "RoundRow", "StoredCampaign", "finding_name",
]  # fmt: skip


class Findings:
    """A database, from `with` to its end. Raises FindingsError if it can't be used.

    write: create it if it is missing. Others may read while one process writes.
    """

    def __init__(self, path: Path, *, write: bool) -> None:
        self.path = path
        self._database = Database(path, write=write)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._database.close()

    def campaign(
        self, name: str, target: str, settings: Mapping[str, Any], now: float
    ) -> StoredCampaign:
        """Return a new campaign, or an existing one that continues."""
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
        return StoredCampaign(self._database, number)

    def campaigns(self) -> list[CampaignRow]:
        """Return all campaigns, the latest last."""
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
        """Return a campaign's rounds, in order."""
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
        """Return the number of cases of each cell."""
        return self._database.cells("coverage", campaign)

    def features(self, campaign: int) -> dict[str, int]:
        """Return the features that were reached, and the first case of each."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT feature, first_case FROM features WHERE campaign = ?", (campaign,)
            )
            return dict(rows.fetchall())

    def findings(self, campaign: int | None = None, prefix: str = "") -> list[Finding]:
        """Return the findings of a campaign (None: all) whose names begin with a prefix.

        They are in the order of their first cases.
        """
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT campaign, name, oracle, behaviour, what, cases, first_case, recipe, observation,"
                " capture, smaller FROM findings WHERE (?1 IS NULL OR campaign = ?1)"
                " AND substr(name, 1, ?2) = ?3 ORDER BY campaign, first_case, name",
                (campaign, len(prefix), prefix),
            )
            return [_finding(row) for row in rows]

    def triggers(self, name: str) -> list[Cell]:
        """Return the cells at which cases of one change made a finding fire, in any campaign."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT DISTINCT api, version, field, mutator FROM triggers WHERE name = ?"
                " ORDER BY api, field, mutator, version",
                (name,),
            )
            return [Cell(*row) for row in rows]

    def reached(self, campaign: int) -> dict[Unit, Reached]:
        """Return the lines that a campaign reached, if it counted them."""
        return self._database.reached(campaign)

    def as_valid(self, campaign: int) -> dict[Cell, int]:
        """Return how many cases of each cell showed only features of valid messages, if it counted."""
        return self._database.cells("as_valid", campaign)

    def aside(self, campaign: int | None = None) -> list[AsideRow]:
        """Return the cases that a campaign (None: all) did not send, by kind, the most first."""
        with self._database.reading() as db:
            with_reasons = self._database.has("set_aside")
            rows = db.execute(ASIDE_WITH_REASONS if with_reasons else OLD_ASIDE, (campaign,))
            return [
                AsideRow(api, version, mutator, reason, cases, first, recipe_of(recipe))
                for cases, api, version, mutator, reason, first, recipe in rows
            ]

    def smaller(self, finding: Finding, recipe: Recipe, detection: Detection | None = None) -> None:
        """Store the shrunk recipe of a finding.

        detection: the detection of the smaller case, which replaces the first one's.
        """
        with self._database.writing() as db:
            if detection is not None:
                observation = detection.observation
                db.execute(
                    "UPDATE findings SET (what, observation, log, capture) = (?, ?, ?, ?)"
                    " WHERE (campaign, name) = (?, ?)",
                    (detection.verdict.message, observation_json(observation), "\n".join(observation.log),
                     capture(observation), finding.campaign, finding.name),
                )  # fmt: skip
            db.execute(
                "UPDATE findings SET smaller = ? WHERE (campaign, name) = (?, ?)",
                (recipe_json(recipe), finding.campaign, finding.name),
            )

    def confirm(self, finding: Finding) -> None:
        """Store that a hang occurred again with no other session running."""
        observation = finding.observation
        confirmed = replace(observation, facts=(*observation.facts, (QUIET, True)))
        with self._database.writing() as db:
            db.execute(
                "UPDATE findings SET observation = ? WHERE (campaign, name) = (?, ?)",
                (observation_json(confirmed), finding.campaign, finding.name),
            )

    def withdraw(self, finding: Finding, reason: str) -> None:
        """Remove a finding, and count its cases among those set aside for a reason."""
        kind = case_kind(finding.recipe, reason)
        with self._database.writing() as db:
            db.execute(ASIDE)
            db.execute(
                ADD_ASIDE,
                (finding.campaign, *kind, finding.cases, finding.first_case, recipe_json(finding.recipe)),
            )  # fmt: skip
            for table in ("findings", "triggers"):
                db.execute(
                    f"DELETE FROM {table} WHERE (campaign, name) = (?, ?)",  # noqa: S608 - our names
                    (finding.campaign, finding.name),
                )


def _finding(row: tuple[Any, ...]) -> Finding:
    campaign, name, oracle, behaviour, message, cases, first_case, *evidence = row
    recipe, observation, captured, smaller = evidence
    return Finding(
        *(campaign, name, oracle, tuple(json.loads(behaviour)), message, cases, first_case),
        *(recipe_of(recipe), observation_of(observation), captured),
        None if smaller is None else recipe_of(smaller),
    )
