"""The database of campaigns: where each stands, what it covered, and what it found. SQLite, one writer.

A finding stays a user's own: nothing of this leaves the machine. Times are Unix seconds.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from fuzz.case import Recipe
from fuzz.energy import next_energies
from fuzz.evidence import capture
from fuzz.observation import Observation
from fuzz.stored import observation_json, observation_of, recipe_json, recipe_of
from fuzz.tally import Behaviour, Cell, Found, Tally

FORMAT: Final = 1
"""Version of the tables."""

APPLICATION: Final = 0x62617266
"""What SQLite calls the application of a file: "barf"."""

TABLES: Final = """
CREATE TABLE campaigns (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, target TEXT NOT NULL,
    settings TEXT NOT NULL,              -- JSON: all that the cases depend on
    began REAL NOT NULL, seconds REAL NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0,
    UNIQUE (name, target, settings));
CREATE TABLE rounds (
    campaign INTEGER NOT NULL REFERENCES campaigns, number INTEGER NOT NULL,
    energies TEXT NOT NULL,              -- JSON: a seed's origin -> its energy
    news INTEGER,                        -- features that nobody had reached before; NULL: not over
    PRIMARY KEY (campaign, number));
CREATE TABLE features (
    campaign INTEGER NOT NULL REFERENCES campaigns, feature TEXT NOT NULL,
    number INTEGER NOT NULL, first_case INTEGER NOT NULL, origin TEXT NOT NULL,
    PRIMARY KEY (campaign, feature)) WITHOUT ROWID;
CREATE TABLE coverage (
    campaign INTEGER NOT NULL REFERENCES campaigns, api TEXT NOT NULL, version INTEGER NOT NULL,
    field TEXT NOT NULL, mutator TEXT NOT NULL, cases INTEGER NOT NULL,
    PRIMARY KEY (campaign, api, version, field, mutator)) WITHOUT ROWID;
CREATE TABLE findings (
    campaign INTEGER NOT NULL REFERENCES campaigns, name TEXT NOT NULL,
    oracle TEXT NOT NULL, behaviour TEXT NOT NULL, what TEXT NOT NULL,
    cases INTEGER NOT NULL, first_case INTEGER NOT NULL,
    recipe TEXT NOT NULL, session TEXT NOT NULL, observation TEXT NOT NULL, log TEXT NOT NULL,
    capture BLOB NOT NULL,               -- pcapng
    smaller TEXT,                        -- the recipe that shrinking made of it
    PRIMARY KEY (campaign, name)) WITHOUT ROWID;
"""


class FindingsError(Exception):
    """A database can't be used, or has no such thing: one line that says why."""


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
    """A finding as it is kept. `smaller` is the recipe that shrinking made of it."""

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
    def best(self) -> Recipe:
        """The smallest recipe that fires."""
        return self.smaller or self.recipe


def finding_name(behaviour: Behaviour) -> str:
    """What a finding is called, in every database: eight digits of (oracle, behaviour).

    >>> finding_name(("died", ("-11",)))
    '5435f640'
    """
    return blake2b(json.dumps(behaviour).encode(), digest_size=4).hexdigest()


class Findings:
    """A database, from `with` to its end. Raises FindingsError if it can't be used.

    write: make it if it is not there. Others may read while one writes.
    """

    def __init__(self, path: Path, *, write: bool) -> None:
        self.path = path
        if not write and not path.is_file():
            raise FindingsError(f"there is no findings database {path}")
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
        except sqlite3.Error as problem:
            raise FindingsError(f"can't open {path}: {problem}") from None
        try:
            self._begin(write)
        except sqlite3.Error as problem:
            self._db.close()
            raise FindingsError(f"can't use {path}: {problem}") from None
        except FindingsError:
            self._db.close()
            raise

    def _begin(self, write: bool) -> None:
        application = self._one("PRAGMA application_id")
        version = self._one("PRAGMA user_version")
        empty = not self._one("SELECT count(*) FROM sqlite_schema")
        if empty and write:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(
                f"BEGIN; {TABLES} PRAGMA application_id = {APPLICATION};"
                f" PRAGMA user_version = {FORMAT}; COMMIT;"
            )
        elif application != APPLICATION:
            raise FindingsError(f"{self.path} is no findings database")
        elif version != FORMAT:
            raise FindingsError(
                f"{self.path} is of format {version}, this knows {FORMAT}: name another with --db"
            )

    def _one(self, statement: str, *values: Any) -> Any:
        row = self._db.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()

    def campaign(self, name: str, target: str, settings: Mapping[str, Any], now: float) -> Kept:
        """A campaign that begins, or goes on if it is here already."""
        text = json.dumps(settings, sort_keys=True)
        with self._writing():
            self._db.execute(
                "INSERT OR IGNORE INTO campaigns (name, target, settings, began) VALUES (?, ?, ?, ?)",
                (name, target, text, now),
            )
        number: int = self._one(
            "SELECT id FROM campaigns WHERE (name, target, settings) = (?, ?, ?)",
            name, target, text,
        )  # fmt: skip
        return Kept(self, number)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction. Raises FindingsError if the disk or somebody else is in the way."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as problem:
            raise FindingsError(f"can't write to {self.path}: {problem}") from None

    def campaigns(self) -> list[CampaignRow]:
        """All campaigns, the latest last."""
        rows = self._db.execute(
            "SELECT id, name, target, settings, began, seconds, done FROM campaigns ORDER BY id"
        )
        return [
            CampaignRow(number, name, target, json.loads(settings), *others)
            for number, name, target, settings, *others in rows
        ]

    def rounds(self, campaign: int) -> list[RoundRow]:
        """A campaign's rounds, in order."""
        rows = self._db.execute(
            "SELECT number, energies, news FROM rounds WHERE campaign = ? ORDER BY number",
            (campaign,),
        )
        return [RoundRow(number, json.loads(energies), news) for number, energies, news in rows]

    def coverage(self, campaign: int) -> dict[Cell, int]:
        """How many cases covered each place."""
        rows = self._db.execute(
            "SELECT api, version, field, mutator, cases FROM coverage WHERE campaign = ?",
            (campaign,),
        )
        return {Cell(*cell): cases for *cell, cases in rows}

    def features(self, campaign: int) -> dict[str, int]:
        """The features that were reached, and the first case of each."""
        rows = self._db.execute(
            "SELECT feature, first_case FROM features WHERE campaign = ?", (campaign,)
        )
        return dict(rows.fetchall())

    def findings(self, campaign: int | None = None, prefix: str = "") -> list[Finding]:
        """Findings of a campaign (of all if None) by the beginning of their names, the first found first."""
        rows = self._db.execute(
            "SELECT campaign, name, oracle, behaviour, what, cases, first_case, recipe, observation,"
            " capture, smaller FROM findings WHERE (?1 IS NULL OR campaign = ?1)"
            " AND substr(name, 1, ?2) = ?3 ORDER BY campaign, first_case, name",
            (campaign, len(prefix), prefix),
        )
        return [_finding(*row) for row in rows]

    def smaller(self, finding: Finding, recipe: Recipe) -> None:
        """Keep what shrinking made of a finding."""
        with self._writing() as db:
            db.execute(
                "UPDATE findings SET smaller = ? WHERE (campaign, name) = (?, ?)",
                (recipe_json(recipe), finding.campaign, finding.name),
            )


class Kept:
    """One campaign of a database that is being run: `fuzz.running.Keeps`."""

    def __init__(self, findings: Findings, number: int) -> None:
        self._findings = findings
        self.id = number
        self.done: int = findings._one("SELECT done FROM campaigns WHERE id = ?", number)

    def energies(self, number: int) -> Mapping[str, int]:
        """The energies of a round."""
        text = self._findings._one(
            "SELECT energies FROM rounds WHERE (campaign, number) = (?, ?)", self.id, number
        )
        found: dict[str, int] = {} if text is None else json.loads(text)
        return found

    def spent(self, seconds: float) -> None:
        """It ran for so long; adds up over its runs."""
        with self._findings._writing() as db:
            db.execute(
                "UPDATE campaigns SET seconds = seconds + ? WHERE id = ?", (seconds, self.id)
            )

    def keep(self, tally: Tally, end: int, number: int) -> None:
        """What cases came to, and that all up to `end` are run. Raises FindingsError, also if
        somebody else ran this campaign meanwhile."""
        with self._findings._writing() as db:
            moved = db.execute(
                "UPDATE campaigns SET done = ? WHERE (id, done) = (?, ?)", (end, self.id, self.done)
            )
            if moved.rowcount != 1:
                raise FindingsError(f"another process runs this campaign in {self._findings.path}")
            db.execute(
                "INSERT OR IGNORE INTO rounds (campaign, number, energies) VALUES (?, ?, '{}')",
                (self.id, number),
            )
            db.executemany(
                "INSERT INTO coverage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET cases = cases + excluded.cases",
                [(self.id, *cell, cases) for cell, cases in tally.coverage.items()],
            )
            db.executemany(
                "INSERT INTO features VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " first_case = excluded.first_case, origin = excluded.origin"
                " WHERE excluded.first_case < first_case AND excluded.number = number",
                [
                    (self.id, feature, number, reached.case, reached.origin)
                    for feature, reached in tally.features.items()
                ],
            )
            for found in tally.findings.values():
                self._add(db, found)
        self.done = end

    def _add(self, db: sqlite3.Connection, found: Found) -> None:
        verdict, observation = found.verdict, found.observation
        name = finding_name((verdict.oracle, verdict.behaviour))
        known = db.execute(
            "UPDATE findings SET cases = cases + ? WHERE (campaign, name) = (?, ?)",
            (found.count, self.id, name),
        )
        if known.rowcount:
            return
        recipe = observation.case.recipe
        row = (
            self.id,
            name,
            verdict.oracle,
            json.dumps(verdict.behaviour),
            verdict.what,
            found.count,
            found.case,
            recipe_json(recipe),
            recipe.session,
            observation_json(observation),
            "\n".join(observation.log),
            capture(observation),
        )
        db.execute("INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", row)

    def end_round(self, number: int) -> int:
        """Make the energies of the round behind this one; returns how many features were new."""
        with self._findings._writing() as db:
            rows = db.execute(
                "SELECT origin FROM features WHERE (campaign, number) = (?, ?) ORDER BY feature",
                (self.id, number),
            )
            news = [origin for (origin,) in rows]
            energies = next_energies(self.energies(number), news)
            db.execute(
                "UPDATE rounds SET news = ? WHERE (campaign, number) = (?, ?)",
                (len(news), self.id, number),
            )
            db.execute(
                "INSERT OR REPLACE INTO rounds (campaign, number, energies) VALUES (?, ?, ?)",
                (self.id, number + 1, json.dumps(energies)),
            )
        return len(news)


def _finding(
    campaign: int,
    name: str,
    oracle: str,
    behaviour: str,
    what: str,
    cases: int,
    first_case: int,
    recipe: str,
    observation: str,
    capture: bytes,
    smaller: str | None,
) -> Finding:
    return Finding(
        campaign,
        name,
        oracle,
        tuple(json.loads(behaviour)),
        what,
        cases,
        first_case,
        recipe_of(recipe),
        observation_of(observation),
        capture,
        None if smaller is None else recipe_of(smaller),
    )
