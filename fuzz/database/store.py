"""A running campaign in its database: its progress, and its results, batch by batch."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from barnabas.fuzz.cases.json_form import observation_json, observation_of, recipe_json
from barnabas.fuzz.coverage.lines import Reach
from barnabas.fuzz.database.database import ADD_ASIDE, ASIDE, COUNTED, Database, FindingsError
from barnabas.fuzz.database.evidence import capture
from barnabas.fuzz.database.finding import Reached, finding_name
from barnabas.fuzz.engine.energy import next_energies
from barnabas.fuzz.engine.stats import Detection, Field, Stats, unshown

_ADD: Final = (
    "INSERT INTO {} VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET cases = cases + excluded.cases"
)
"""Adds the cases of a cell to the table `coverage` or `as_valid`."""


class StoredCampaign:
    """A running campaign: a `barnabas.fuzz.engine.rounds.CampaignStore`."""

    def __init__(self, database: Database, number: int) -> None:
        self._database = database
        self.id = number
        self.done: int = database.one("SELECT done FROM campaigns WHERE id = ?", number)

    def energies(self, number: int) -> Mapping[str, int]:
        """Return the energies of a round."""
        text = self._database.one(
            "SELECT energies FROM rounds WHERE (campaign, number) = (?, ?)", self.id, number
        )
        with self._database.reading():
            by_key: dict[str, int] = {} if text is None else json.loads(text)
        return by_key

    def counted(self) -> bool:
        """Return whether lines are stored already: those that valid messages reached."""
        return bool(self._database.reached(self.id))

    def reached(self, reach: Reach) -> None:
        """Store the lines that were reached so far, first those of valid messages. Raises FindingsError."""
        stored = self._database.reached(self.id)
        rows = []
        for unit, (now, every) in reach.items():
            before = stored.get(unit) or Reached(every, 0 if stored else now, 0)
            masks = (f"{mask:x}" for mask in (every, before.before, before.after | now))
            rows.append((self.id, *unit, *masks))
        with self._database.writing() as db:
            for statement in COUNTED.split(";"):
                db.execute(statement)
            db.executemany("INSERT OR REPLACE INTO reached VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def spent(self, seconds: float) -> None:
        """Add the seconds of a run."""
        with self._database.writing() as db:
            db.execute(
                "UPDATE campaigns SET seconds = seconds + ? WHERE id = ?", (seconds, self.id)
            )

    def keep(self, stats: Stats, end: int, number: int) -> None:
        """Store the results of cases, and that all up to `end` were run.

        Raises FindingsError, also if another process ran this campaign meanwhile.
        """
        with self._database.writing() as db:
            moved = db.execute(
                "UPDATE campaigns SET done = ? WHERE (id, done) = (?, ?)", (end, self.id, self.done)
            )
            if moved.rowcount != 1:
                raise FindingsError(f"another process runs this campaign in {self._database.path}")
            db.execute(
                "INSERT OR IGNORE INTO rounds (campaign, number, energies) VALUES (?, ?, '{}')",
                (self.id, number),
            )
            for table, cells in (("coverage", stats.coverage), ("as_valid", stats.as_valid)):
                if cells:
                    rows = [(self.id, *cell, cases) for cell, cases in cells.items()]
                    db.executemany(_ADD.format(table), rows)
            db.executemany(
                "INSERT INTO features VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " first_case = excluded.first_case, origin = excluded.origin"
                " WHERE excluded.first_case < first_case AND excluded.number = number",
                [
                    (self.id, feature, number, reached.case, reached.origin)
                    for feature, reached in stats.features.items()
                ],
            )
            for detection in stats.findings.values():
                self._add(db, detection)
            db.execute("DELETE FROM shelf WHERE campaign = ? AND first < ?", (self.id, end))
            db.execute(ASIDE)
            for kind, aside in stats.aside.items():
                db.execute(
                    ADD_ASIDE,
                    (self.id, *kind, aside.count, aside.case, recipe_json(aside.recipe)),
                )
        self.done = end

    def shelve(self, shard: range, rows: Sequence[tuple[str, str]]) -> None:
        """Store the rows of a shard that finished out of order (`barnabas.fuzz.engine.shard_pool.Shelf`)."""
        with self._database.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO shelf VALUES (?, ?, ?, ?)",
                (self.id, shard.start, shard.stop, json.dumps(list(rows))),
            )

    def shelved(self, numbers: range) -> list[tuple[range, list[tuple[str, str]]]]:
        """Return the stored shards within these numbers, in order."""
        rows = self._database.connection.execute(
            "SELECT first, end, said FROM shelf WHERE campaign = ? AND first >= ? AND end <= ?"
            " ORDER BY first",
            (self.id, numbers.start, numbers.stop),
        )
        return [
            (range(first, end), [(kind, text) for kind, text in json.loads(rows_json)])
            for first, end, rows_json in rows
        ]

    def _add(self, db: sqlite3.Connection, detection: Detection) -> None:
        verdict, observation = detection.verdict, detection.observation
        name = finding_name(detection.key)
        stored = db.execute(
            "SELECT observation, cases FROM findings WHERE (campaign, name) = (?, ?)",
            (self.id, name),
        ).fetchone()
        db.executemany(
            "INSERT INTO triggers VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
            " SET cases = cases + excluded.cases",
            [(self.id, name, *cell, cases) for cell, cases in detection.triggers.items()],
        )
        count = detection.count + (stored[1] if stored else 0)
        with self._database.reading():
            before = Detection(verdict, observation_of(stored[0])) if stored else None
        if before is not None and before.rank <= detection.rank:
            db.execute(
                "UPDATE findings SET cases = ? WHERE (campaign, name) = (?, ?)",
                (count, self.id, name),
            )
            return
        recipe = observation.case.recipe
        row = (
            self.id,
            name,
            verdict.oracle,
            json.dumps(verdict.behaviour),
            verdict.message,
            count,
            detection.case,
            recipe_json(recipe),
            recipe.session,
            observation_json(observation),
            "\n".join(observation.log),
            capture(observation),
        )
        db.execute(
            "INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", row
        )

    def _unshown(self) -> Mapping[Field, int]:
        """Return the fields without a result of a campaign with feedback; other campaigns have none."""
        text = self._database.one("SELECT settings FROM campaigns WHERE id = ?", self.id)
        if "coverage" not in json.loads(text):
            return {}
        return unshown(
            self._database.cells("coverage", self.id), self._database.cells("as_valid", self.id)
        )

    def end_round(self, number: int) -> int:
        """Store the energies of the following round; return how many features were new."""
        with self._database.writing() as db:
            rows = db.execute(
                "SELECT origin FROM features WHERE (campaign, number) = (?, ?) ORDER BY feature",
                (self.id, number),
            )
            news = [origin for (origin,) in rows]
            energies = next_energies(self.energies(number), news, self._unshown())
            db.execute(
                "UPDATE rounds SET news = ? WHERE (campaign, number) = (?, ?)",
                (len(news), self.id, number),
            )
            db.execute(
                "INSERT OR REPLACE INTO rounds (campaign, number, energies) VALUES (?, ?, ?)",
                (self.id, number + 1, json.dumps(energies)),
            )
        return len(news)
