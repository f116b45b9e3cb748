"""The database file of campaigns: SQLite, with one writer and any number of readers."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from barnabas.captures.files import private
from barnabas.fuzz.coverage.lines import Unit
from barnabas.fuzz.database.finding import Reached
from barnabas.fuzz.engine.stats import Cell

FORMAT: Final = 3
"""The version of the tables."""

APPLICATION: Final = 0x62617266
"""SQLite's application id of the file: "barf"."""

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
CREATE TABLE triggers (                  -- places at which cases of one change made a finding fire
    campaign INTEGER NOT NULL REFERENCES campaigns, name TEXT NOT NULL,
    api TEXT NOT NULL, version INTEGER NOT NULL, field TEXT NOT NULL, mutator TEXT NOT NULL,
    cases INTEGER NOT NULL,
    PRIMARY KEY (campaign, name, api, version, field, mutator)) WITHOUT ROWID;
CREATE TABLE shelf (                     -- shards that were finished out of turn
    campaign INTEGER NOT NULL REFERENCES campaigns, first INTEGER NOT NULL, end INTEGER NOT NULL,
    said TEXT NOT NULL,                  -- JSON: the rows of barnabas.fuzz.engine.shards
    PRIMARY KEY (campaign, first)) WITHOUT ROWID;
CREATE TABLE aside (                     -- cases that were not sent, before reasons were stored
    campaign INTEGER NOT NULL REFERENCES campaigns, api TEXT NOT NULL, version INTEGER NOT NULL,
    mutator TEXT NOT NULL, cases INTEGER NOT NULL, first_case INTEGER NOT NULL, recipe TEXT NOT NULL,
    PRIMARY KEY (campaign, api, version, mutator)) WITHOUT ROWID;
"""

COUNTED: Final = """
CREATE TABLE IF NOT EXISTS reached (     -- lines of the target: of campaigns that count them
    campaign INTEGER NOT NULL REFERENCES campaigns, package TEXT NOT NULL, name TEXT NOT NULL,
    parser INTEGER NOT NULL, lines TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL,
    PRIMARY KEY (campaign, package, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS as_valid (    -- of the coverage, cases that showed what valid messages show
    campaign INTEGER NOT NULL REFERENCES campaigns, api TEXT NOT NULL, version INTEGER NOT NULL,
    field TEXT NOT NULL, mutator TEXT NOT NULL, cases INTEGER NOT NULL,
    PRIMARY KEY (campaign, api, version, field, mutator)) WITHOUT ROWID;
"""
"""Tables that may be missing. Lines are bits in base 16; `before` are those that valid messages reached."""

ASIDE: Final = """
CREATE TABLE IF NOT EXISTS set_aside (   -- cases that were not judged
    campaign INTEGER NOT NULL REFERENCES campaigns, api TEXT NOT NULL, version INTEGER NOT NULL,
    mutator TEXT NOT NULL, reason TEXT NOT NULL, cases INTEGER NOT NULL, first_case INTEGER NOT NULL,
    recipe TEXT NOT NULL, PRIMARY KEY (campaign, api, version, mutator, reason)) WITHOUT ROWID
"""
"""A table that older databases lack."""

ADD_ASIDE: Final = """
INSERT INTO set_aside VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET cases = cases + excluded.cases
"""
"""Adds cases of one kind to `set_aside`."""

OLD_ASIDE: Final = """
SELECT cases, api, version, mutator, '' AS reason, first_case, recipe FROM aside
WHERE ?1 IS NULL OR campaign = ?1 ORDER BY cases DESC, api, version, mutator
"""
ASIDE_WITH_REASONS: Final = """
SELECT cases, api, version, mutator, reason, first_case, recipe FROM set_aside
WHERE ?1 IS NULL OR campaign = ?1
UNION ALL SELECT cases, api, version, mutator, '', first_case, recipe FROM aside
WHERE ?1 IS NULL OR campaign = ?1 ORDER BY 1 DESC, 2, 3, 4, 5
"""
"""The cases of a campaign that were not judged, the most first."""


class FindingsError(Exception):
    """A database can't be used, or lacks a record; the message is one line with the reason."""


class NoDatabaseError(FindingsError):
    """The file does not exist."""


class Database:
    """An open file. write: create it if it is missing. Raises FindingsError if it can't be used."""

    def __init__(self, path: Path, *, write: bool) -> None:
        self.path = path
        if not write and not os.path.isfile(path):  # noqa: PTH113 - also where a name is too long
            raise NoDatabaseError(f"no findings database {path}")
        try:
            if write and not path.exists():
                private.write(path, b"")  # SQLite's other files get its permissions
            self.connection = sqlite3.connect(path, isolation_level=None)
        except (OSError, sqlite3.Error) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else problem
            raise FindingsError(f"can't open {path}: {reason}") from None
        try:
            self._begin(write)
        except sqlite3.Error as problem:
            self.connection.close()
            raise FindingsError(f"can't use {path}: {problem}") from None
        except FindingsError:
            self.connection.close()
            raise

    def _begin(self, write: bool) -> None:
        application = self.one("PRAGMA application_id")
        version = self.one("PRAGMA user_version")
        empty = not self.one("SELECT count(*) FROM sqlite_schema")
        if empty and write:
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.executescript(
                f"BEGIN; {TABLES} PRAGMA application_id = {APPLICATION};"
                f" PRAGMA user_version = {FORMAT}; COMMIT;"
            )
        elif application != APPLICATION:
            raise FindingsError(f"{self.path} is not a findings database")
        elif version != FORMAT:
            raise FindingsError(
                f"{self.path} has format {version}, expected {FORMAT}: choose another with --db"
            )

    def one(self, statement: str, *values: Any) -> Any:
        """Return the first value of the first row; None if there is none."""
        row = self.connection.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def has(self, table: str) -> bool:
        """Return whether a table exists: those of COUNTED may be missing."""
        return bool(self.one("SELECT count(*) FROM sqlite_schema WHERE name = ?", table))

    def cells(self, table: str, campaign: int) -> dict[Cell, int]:
        """Return the cases of each cell of a campaign, from the table `coverage` or `as_valid`."""
        with self.reading() as db:
            if not self.has(table):
                return {}
            rows = db.execute(
                f"SELECT api, version, field, mutator, cases FROM {table} WHERE campaign = ?",  # noqa: S608 (of the two)
                (campaign,),
            )
            return {Cell(*cell): cases for *cell, cases in rows}

    def reached(self, campaign: int) -> dict[Unit, Reached]:
        """Return the lines that a campaign reached; none if it did not count them."""
        with self.reading() as db:
            if not self.has("reached"):
                return {}
            rows = db.execute(
                "SELECT package, name, parser, lines, before, after FROM reached WHERE campaign = ?",
                (campaign,),
            )
            return {
                Unit(package, name, bool(parser)): Reached(*(int(text, 16) for text in lines))
                for package, name, parser, *lines in rows
            }

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Guard reads of records. Raises FindingsError for a damaged one."""
        try:
            yield self.connection
        except (sqlite3.Error, ValueError, TypeError) as problem:
            message = str(problem).partition("\n")[0]
            raise FindingsError(f"{self.path} has a damaged record: {message}") from None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Begin a transaction. Raises FindingsError if the disk is full or another process has the lock."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")
        except sqlite3.Error as problem:
            raise FindingsError(f"can't write to {self.path}: {problem}") from None
