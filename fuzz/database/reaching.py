"""What cases reached: the places that they covered; of campaigns that count lines these, and the places
that showed nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from barnabas.fuzz.coverage.lines import Reach, Unit
from barnabas.fuzz.database.database import COUNTED, Database
from barnabas.fuzz.engine.stats import Cell


class Reached(NamedTuple):
    """Lines of a unit, as bits: all, those that valid messages reached, those that any case reached."""

    all: int
    before: int
    after: int


def reached(database: Database, campaign: int) -> dict[Unit, Reached]:
    """What a campaign reached; nothing if its lines were not counted. Raises FindingsError."""
    with database.reading() as db:
        if not database.has("reached"):
            return {}
        rows = db.execute(
            "SELECT package, name, parser, lines, before, after FROM reached WHERE campaign = ?",
            (campaign,),
        )
        return {
            Unit(package, name, bool(parser)): Reached(*(int(text, 16) for text in lines))
            for package, name, parser, *lines in rows
        }


def keep_reached(database: Database, campaign: int, found: Reach) -> None:
    """Keep what was reached until now. What is kept first is what valid messages reached. Raises
    FindingsError."""
    known = reached(database, campaign)
    rows = []
    for unit, (now, every) in found.items():
        before = known.get(unit) or Reached(every, 0 if known else now, 0)
        masks = (f"{mask:x}" for mask in (every, before.before, before.after | now))
        rows.append((campaign, *unit, *masks))
    with database.writing() as db:
        for statement in COUNTED.split(";"):
            db.execute(statement)
        db.executemany("INSERT OR REPLACE INTO reached VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def coverage(database: Database, campaign: int) -> dict[Cell, int]:
    """How many cases covered each place. Raises FindingsError."""
    return _cells(database, "coverage", campaign)


def as_valid(database: Database, campaign: int) -> dict[Cell, int]:
    """How many cases of each place showed nothing but what valid messages show. Raises FindingsError."""
    return _cells(database, "as_valid", campaign)


def _cells(database: Database, table: str, campaign: int) -> dict[Cell, int]:
    with database.reading() as db:
        if not database.has(table):
            return {}
        rows = db.execute(
            f"SELECT api, version, field, mutator, cases FROM {table} WHERE campaign = ?",  # noqa: S608 (of the two)
            (campaign,),
        )
        return {Cell(*cell): cases for *cell, cases in rows}


def keep_as_valid(database: Database, campaign: int, cases: Mapping[Cell, int]) -> None:
    """Add to them, within a transaction of somebody else's."""
    database.connection.executemany(
        "INSERT INTO as_valid VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
        " SET cases = cases + excluded.cases",
        [(campaign, *cell, count) for cell, count in cases.items()],
    )
