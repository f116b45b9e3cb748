"""Iceberg tables, by pyiceberg. The summary of a snapshot names its run or batch.

The catalog is an SQLite file next to the tables, which are `barnabas.TABLE` in it. They have no partitions;
the metadata has the least and largest capture and time of each file. Files are written as the folder's own
are, in bounded memory, and then added to the table. Metadata has absolute paths, so a folder that was moved
is unreadable.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from barnabas.pipeline.tables.partitioned_parquet import write
from barnabas.pipeline.tables.schemas import FOLDERS, ORDER

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import Table

_NAME: Final = "barnabas"
"""The name of the catalog and of the tables' namespace, and the prefix of our properties."""
_BATCH: Final = f"{_NAME}.batch"
"""The property with a table's latest batch, and the one with a snapshot's batch."""
_PROPERTIES: Final = {
    # with these, files are skipped, or replaced without being read; footers lack nested columns
    "write.metadata.metrics.default": "none",
    **{f"write.metadata.metrics.column.{name}": "full" for name in (*FOLDERS, *ORDER, "ts")},
    # each metadata file has all earlier snapshots, so many batches would fill the disk
    "write.metadata.delete-after-commit.enabled": "true",
    "commit.manifest-merge.enabled": "true",
}


def commit(
    folder: Path, table: str, metadata: Mapping[str, Any], rows: Callable[[], pa.RecordBatchReader]
) -> None:
    """Commit rows; see `Format`."""
    from pyiceberg.expressions import EqualTo, Reference

    table_folder = folder / table
    with _catalog(table_folder) as catalog:
        iceberg_table = _load(catalog, table_folder)
        latest = -1 if iceberg_table is None else int(iceberg_table.properties.get(_BATCH, -1))
        if latest >= metadata.get("batch", latest + 1):
            return
        reader = rows()
        order = ORDER if table == "exchanges" else ()
        file = f"{uuid.uuid4().hex}-{{}}.parquet"
        files = write(reader, reader.schema, (), table_folder / "data", file, order)
        if iceberg_table is None:
            catalog.create_namespace_if_not_exists(_NAME)
            name = (_NAME, table)
            iceberg_table = catalog.create_table(
                name, reader.schema, str(table_folder), properties=_PROPERTIES
            )
        with iceberg_table.transaction() as change:
            with change.update_schema() as columns:
                columns.union_by_name(reader.schema)
            if "capture" in metadata:
                of_it = EqualTo(term=Reference("capture"), value=metadata["capture"])
                if any(True for _ in iceberg_table.scan(row_filter=of_it).plan_files()):
                    change.delete(of_it)
            change.add_files(
                [str(value.path) for value in files],
                {f"{_NAME}.{key}": str(value) for key, value in metadata.items()},
                check_duplicate_files=False,
            )
            if "batch" in metadata:
                change.set_properties({_BATCH: str(metadata["batch"])})


def batches(folder: Path, table: str) -> Iterator[tuple[int, list[Path]]]:
    """Yield the batches of a table; see `Format`."""
    from pyiceberg.manifest import ManifestEntryStatus
    from pyiceberg.table.snapshots import ancestors_of

    with _catalog(folder / table, new=False) as catalog:
        iceberg_table = _load(catalog, folder / table)
        if iceberg_table is None:
            return
        for snapshot in ancestors_of(iceberg_table.current_snapshot(), iceberg_table.metadata):
            number = snapshot.summary and snapshot.summary[_BATCH]
            if number:
                entries = (
                    entry
                    for manifest in snapshot.manifests(iceberg_table.io)
                    if manifest.added_snapshot_id == snapshot.snapshot_id
                    for entry in manifest.fetch_manifest_entry(iceberg_table.io)
                )
                files = [
                    Path(entry.data_file.file_path)
                    for entry in entries
                    if entry.status == ManifestEntryStatus.ADDED
                ]
                yield int(number), files


@contextmanager
def _catalog(table_folder: Path, *, new: bool = True) -> Iterator[SqlCatalog]:
    """Open the catalog of a table, or make one if `new` is set. Errors become an OSError in one line."""
    from pyiceberg.catalog.sql import SqlCatalog

    file = table_folder.with_name("catalog.db")
    try:
        if new:
            table_folder.parent.mkdir(parents=True, exist_ok=True)
        else:
            file.stat()  # SQLite would make it
        uri = f"sqlite:///{quote(str(file))}"
        with closing(SqlCatalog(_NAME, uri=uri, init_catalog_tables=str(new))) as catalog:
            yield catalog
    except Exception as problem:  # noqa: BLE001 damaged files raise EOFError, SystemError, KeyError ...
        line = (str(problem).splitlines() or [""])[0]
        explained = isinstance(problem, (OSError, ValueError))
        reason = line if explained and line else f"{type(problem).__name__}: {line}"
        raise OSError(0, reason, str(table_folder)) from None


def _load(catalog: SqlCatalog, table_folder: Path) -> Table | None:
    """Return a table, or None if there is none. Raises ValueError for a table that was moved or copied."""
    name = (_NAME, table_folder.name)
    if not catalog.table_exists(name):
        return None
    loaded = catalog.load_table(name)
    if loaded.location() != str(table_folder):
        raise ValueError(
            f"it was made as {loaded.location()}, and can't be moved: delete {table_folder.parent}"
        )
    return loaded
