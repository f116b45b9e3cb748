"""Iceberg tables, by pyiceberg. The summary of a snapshot says which run or batch it is of.

The catalog is a file of SQLite beside the tables, which are `barnabas.TABLE` in it. They have no partitions:
of each file the least and largest capture and time are known. Files are written as the folder's own are, in
bounded memory, and pyiceberg is told of them. Metadata names files by their whole paths: a folder that was
moved can't be read.
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
"""Of the catalog and of the tables' namespace, and what stands before our properties."""
_BATCH: Final = f"{_NAME}.batch"
"""Property of a table: its latest batch; of a snapshot's summary: its own."""
_PROPERTIES: Final = {
    # by these files are passed over, or replaced without being read; of nested columns footers say nothing
    "write.metadata.metrics.default": "none",
    **{f"write.metadata.metrics.column.{one}": "full" for one in (*FOLDERS, *ORDER, "ts")},
    # of many batches: the metadata of each has all before it
    "write.metadata.delete-after-commit.enabled": "true",
    "commit.manifest-merge.enabled": "true",
}


def commit(
    folder: Path, table: str, said: Mapping[str, Any], rows: Callable[[], pa.RecordBatchReader]
) -> None:
    """See `Format`."""
    from pyiceberg.expressions import EqualTo, Reference

    place = folder / table
    with _catalog(place) as catalog:
        there = _load(catalog, place)
        latest = -1 if there is None else int(there.properties.get(_BATCH, -1))
        if latest >= said.get("batch", latest + 1):
            return
        found = rows()
        order = ORDER if table == "exchanges" else ()
        file = f"{uuid.uuid4().hex}-{{}}.parquet"
        made = write(found, found.schema, (), place / "data", file, order)
        if there is None:
            catalog.create_namespace_if_not_exists(_NAME)
            name = (_NAME, table)
            there = catalog.create_table(name, found.schema, str(place), properties=_PROPERTIES)
        with there.transaction() as change:
            with change.update_schema() as columns:
                columns.union_by_name(found.schema)
            if "capture" in said:
                of_it = EqualTo(term=Reference("capture"), value=said["capture"])
                if any(True for _ in there.scan(row_filter=of_it).plan_files()):
                    change.delete(of_it)
            change.add_files(
                [str(one.path) for one in made],
                {f"{_NAME}.{key}": str(one) for key, one in said.items()},
                check_duplicate_files=False,
            )
            if "batch" in said:
                change.set_properties({_BATCH: str(said["batch"])})


def batches(folder: Path, table: str) -> Iterator[tuple[int, list[Path]]]:
    """See `Format`."""
    from pyiceberg.manifest import ManifestEntryStatus
    from pyiceberg.table.snapshots import ancestors_of

    with _catalog(folder / table, new=False) as catalog:
        found = _load(catalog, folder / table)
        if found is None:
            return
        for snapshot in ancestors_of(found.current_snapshot(), found.metadata):
            number = snapshot.summary and snapshot.summary[_BATCH]
            if number:
                entries = (
                    entry
                    for manifest in snapshot.manifests(found.io)
                    if manifest.added_snapshot_id == snapshot.snapshot_id
                    for entry in manifest.fetch_manifest_entry(found.io)
                )
                files = [
                    Path(entry.data_file.file_path)
                    for entry in entries
                    if entry.status == ManifestEntryStatus.ADDED
                ]
                yield int(number), files


@contextmanager
def _catalog(place: Path, *, new: bool = True) -> Iterator[SqlCatalog]:
    """The catalog of a table that is there. new: make one if there is none. What goes wrong with both is told
    in a line, as an OSError."""
    from pyiceberg.catalog.sql import SqlCatalog

    file = place.with_name("catalog.db")
    try:
        if new:
            place.parent.mkdir(parents=True, exist_ok=True)
        else:
            file.stat()  # SQLite would make it
        uri = f"sqlite:///{quote(str(file))}"
        with closing(SqlCatalog(_NAME, uri=uri, init_catalog_tables=str(new))) as catalog:
            yield catalog
    except Exception as problem:  # noqa: BLE001 of damaged files: EOFError, SystemError, KeyError ...
        line = (str(problem).splitlines() or [""])[0]
        known = isinstance(problem, (OSError, ValueError))
        said = line if known and line else f"{type(problem).__name__}: {line}"
        raise OSError(0, said, str(place)) from None


def _load(catalog: SqlCatalog, place: Path) -> Table | None:
    """None if there is none yet. Raises ValueError for one that was made elsewhere, and copied."""
    name = (_NAME, place.name)
    if not catalog.table_exists(name):
        return None
    found = catalog.load_table(name)
    if found.location() != str(place):
        raise ValueError(
            f"it was made as {found.location()}, and can't be moved: delete {place.parent}"
        )
    return found
