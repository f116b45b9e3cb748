"""Merges the small batches of a followed folder into a few large files.

The new folder of a table is made next to the old one, with links to files that stay, and both are exchanged
in one step. A reader that lists the files sees the old ones or the new ones. A reader with old names that
opens them later gets an error and lists again.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from barnabas.pipeline.tables import partitioned_parquet
from barnabas.pipeline.tables.partitioned_parquet import ZSTD

FILE: Final = 128 << 20
"""Bytes of a batch's files from which on it is not merged."""
BATCHES: Final = 16
"""The number of small batches from which on they are merged."""

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_ROWS: Final = 2000


def compact(
    out: Path, run: Path, schemas: Mapping[str, pa.Schema], order: Mapping[str, Sequence[str]]
) -> None:
    """Merge the small batches of each table that has many. No other process may write them meanwhile.

    `run` is a working folder on the same file system, whose earlier content is removed. `schemas` has the
    schemas of the files by table; columns that an old file lacks are null. `order` has the columns by which
    rows are sorted.

    Raises:
        OSError: Also if folders can't be exchanged: then the table is unchanged.
    """
    for table, schema in schemas.items():
        small = [each for each in batches(out / table) if _bytes(each) < FILE]
        if len(small) < BATCHES:
            continue
        shutil.rmtree(run, ignore_errors=True)
        new_folder, probe = run / table, run / "_probe"
        new_folder.mkdir(parents=True)
        probe.mkdir()
        exchange(new_folder, probe)  # if this fails, no work is wasted
        for each in batches(out / table):
            if each not in small:
                shutil.copytree(each, new_folder / each.name, copy_function=os.link)
        # it gets the name of the last small batch, which is finished and never made again
        _merge(small, new_folder / small[-1].name, schema, order.get(table, ()))
        exchange(new_folder, out / table)
        shutil.rmtree(run)


def batches(table: Path) -> list[Path]:
    """Return the folders of a table's batches, in order."""
    return sorted(table.glob("batch=*"), key=lambda path: int(path.name.partition("=")[2]))


def exchange(first: Path, second: Path) -> None:
    """Exchange two folders in one step, by Linux's renameat2. Raises OSError, also if it is unavailable."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        raise OSError("this system can't exchange two folders") from None
    paths = [(_AT_FDCWD, os.fsencode(path)) for path in (first, second)]
    if rename(*paths[0], *paths[1], _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(first), None, str(second))


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


def _merge(small: Sequence[Path], target: Path, schema: pa.Schema, order: Sequence[str]) -> None:
    files: dict[Path, list[Path]] = {}
    for folder in small:
        for path in sorted(folder.rglob("*.parquet")):
            files.setdefault(path.parent.relative_to(folder), []).append(path)
    for within, paths in sorted(files.items()):
        target_folder = target / within
        written = partitioned_parquet.write(
            _rows(paths, schema),
            schema,
            (),
            target_folder,
            order,
        )
        if not written:  # readers need a file with the columns
            target_folder.mkdir(parents=True)
            pq.write_table(schema.empty_table(), target_folder / "part-0.parquet", compression=ZSTD)


def _rows(paths: Iterable[Path], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for path in paths:
        with pq.ParquetFile(path) as file:
            for rows in file.iter_batches(_ROWS):
                existing = set(rows.schema.names)
                columns = [
                    rows[field.name] if field.name in existing else pa.nulls(len(rows), field.type)
                    for field in schema
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
