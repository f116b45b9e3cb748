"""The tables of a folder as SQL: statements by which Spark knows them by name, `spark-sql -f tables.sql`.

They can be run again, when the folder has got more captures. They take nothing away: a table that has the
name already stays what it is, and gets the columns that a later version brought (null in older files).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.rows.columns import VERSION, VERSION_KEY, Column, ddl
from barnabas.pipeline.tables.schemas import FOLDERS, TABLES, columns_of, ddl_of, folders_of

FILE: Final = "tables.sql"
"""Beside the tables."""

_BATCH: Final = "batch"
"""By which the streaming job's tables are in folders, before all else."""


def statements(out: Path, location: str = "") -> Iterator[str]:
    """What makes tables of those that are in the folder: `exchanges` ..., and `analysis_latency` ...

    location: where the folder will be, if that is elsewhere, as Spark names it.
    """
    location = location.rstrip("/") or str(out.resolve())
    for name in TABLES:
        place = out / name
        if place.is_dir():
            followed = any(place.glob(f"{_BATCH}=*"))
            folders, said = folders_of(name), ddl_of(name)
            if followed:
                folders = (_BATCH, *(FOLDERS if name == "exchanges" else ()))
                said = f"{said}, `{_BATCH}` bigint"
            yield _table(name, said, folders, f"{location}/{name}")
            yield from _added(name, columns_of(name))
            # else Spark does not look for folders; of those that are gone it forgets the rows
            yield f"MSCK REPAIR TABLE {name} SYNC PARTITIONS"
    for analysis in ANALYSES:
        place = out / "analyses" / analysis.name
        if place.is_dir():
            where = f"{location}/analyses/{analysis.name}"
            yield _table(f"analysis_{analysis.name}", ddl(analysis.columns), (), where)
            yield from _added(f"analysis_{analysis.name}", analysis.columns)


def _table(name: str, columns: str, folders: tuple[str, ...], place: str) -> str:
    by = f" PARTITIONED BY ({', '.join(folders)})" if folders else ""
    where = place.replace("\\", "\\\\").replace("'", "\\'")
    return (
        f"CREATE TABLE IF NOT EXISTS {name} ({columns}) USING parquet{by} LOCATION '{where}' "
        f"TBLPROPERTIES ('{VERSION_KEY.decode()}' = '{VERSION}')"
    )


def _added(name: str, columns: Sequence[Column]) -> Iterator[str]:
    """Each column that came later, for a table that was made before; one that has it stays as it is."""
    for new in columns:
        if new.since > 1:
            yield (
                "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN END; "
                f"ALTER TABLE {name} ADD COLUMNS ({ddl((new,))}); END"
            )


def script(out: Path, location: str = "") -> str:
    """All of them, as a file."""
    return "".join(f"{one};\n" for one in statements(out, location))
