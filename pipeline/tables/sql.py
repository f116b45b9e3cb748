"""SQL statements by which Spark knows the tables of a folder by name: `spark-sql -f tables.sql`.

They can be run again when the folder has more captures. They remove nothing: an existing table stays, and
gets the columns that a later version added (null in older files).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.rows.columns import VERSION, VERSION_KEY, Column, ddl
from barnabas.pipeline.tables.schemas import FOLDERS, TABLES, columns_of, ddl_of, folders_of

FILE: Final = "tables.sql"
"""The name of the file, next to the tables."""

_BATCH: Final = "batch"
"""The outermost folder of the streaming job's tables."""


def statements(out: Path, location: str = "") -> Iterator[str]:
    """Yield statements that create the folder's tables: `exchanges` ..., and `analysis_latency` ...

    `location` is the folder's future location, as Spark names it, if that is elsewhere.
    """
    location = location.rstrip("/") or str(out.resolve())
    for name in TABLES:
        table_folder = out / name
        if table_folder.is_dir():
            followed = any(table_folder.glob(f"{_BATCH}=*"))
            folders, columns = folders_of(name), ddl_of(name)
            if followed:
                folders = (_BATCH, *(FOLDERS if name == "exchanges" else ()))
                columns = f"{columns}, `{_BATCH}` bigint"
            yield _table(name, columns, folders, f"{location}/{name}")
            yield from _added(name, columns_of(name))
            # otherwise Spark would not find folders; it also drops the rows of removed folders
            yield f"MSCK REPAIR TABLE {name} SYNC PARTITIONS"
    for analysis in ANALYSES:
        table_folder = out / "analyses" / analysis.name
        if table_folder.is_dir():
            table_location = f"{location}/analyses/{analysis.name}"
            yield _table(f"analysis_{analysis.name}", ddl(analysis.columns), (), table_location)
            yield from _added(f"analysis_{analysis.name}", analysis.columns)


def _table(name: str, columns: str, folders: tuple[str, ...], location: str) -> str:
    by = f" PARTITIONED BY ({', '.join(folders)})" if folders else ""
    quoted_location = location.replace("\\", "\\\\").replace("'", "\\'")
    return (
        f"CREATE TABLE IF NOT EXISTS {name} ({columns}) USING parquet{by} LOCATION '{quoted_location}' "
        f"TBLPROPERTIES ('{VERSION_KEY.decode()}' = '{VERSION}')"
    )


def _added(name: str, columns: Sequence[Column]) -> Iterator[str]:
    """Yield a statement for each later column; a table that has the column stays as it is."""
    for new in columns:
        if new.since > 1:
            yield (
                "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN END; "
                f"ALTER TABLE {name} ADD COLUMNS ({ddl((new,))}); END"
            )


def script(out: Path, location: str = "") -> str:
    """Return all statements as a file."""
    return "".join(f"{statement};\n" for statement in statements(out, location))
