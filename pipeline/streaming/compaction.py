"""Batches of a folder that is followed become one: a few large files in the place of many small ones.

The new folder of a table is made beside the old one, with links to what stays as it is, and both change
places in one step. Whoever lists the files meanwhile finds the old ones or the new ones; who has the old
names, and opens them later, finds that they are gone and asks again.
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
from barnabas.pipeline.tables.partitioned_parquet import FILE, ZSTD

BATCHES: Final = 16
"""Small ones from which on they become one."""

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_ROWS: Final = 2000


def compact(
    out: Path, run: Path, schemas: Mapping[str, pa.Schema], order: Mapping[str, Sequence[str]]
) -> None:
    """Bring together the small batches of each table that has many. No other may write them meanwhile.

    run: where it is made, on the same file system: what a killed one left there goes. schemas: of what is in
    the files, by table; what an old file lacks is null. order: columns by which rows are sorted. Raises
    OSError, also where folders can't change places: that table is as it was then.
    """
    for table, schema in schemas.items():
        small = [each for each in batches(out / table) if _bytes(each) < FILE]
        if len(small) < BATCHES:
            continue
        shutil.rmtree(run, ignore_errors=True)
        made, probe = run / table, run / "_probe"
        made.mkdir(parents=True)
        probe.mkdir()
        exchange(made, probe)  # where that can't be, nothing is made in vain
        for each in batches(out / table):
            if each not in small:
                shutil.copytree(each, made / each.name, copy_function=os.link)
        # it is called like the last of them: that one is over, and is never made again
        _merge(small, made / small[-1].name, schema, order.get(table, ()))
        exchange(made, out / table)
        shutil.rmtree(run)


def batches(table: Path) -> list[Path]:
    """The folders of a table's batches, in order."""
    return sorted(table.glob("batch=*"), key=lambda path: int(path.name.partition("=")[2]))


def exchange(one: Path, other: Path) -> None:
    """Two folders change places in one step: renameat2 of Linux. Raises OSError, also where there is none."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        raise OSError("this system can't exchange two folders") from None
    paths = [(_AT_FDCWD, os.fsencode(path)) for path in (one, other)]
    if rename(*paths[0], *paths[1], _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


def _merge(small: Sequence[Path], target: Path, schema: pa.Schema, order: Sequence[str]) -> None:
    files: dict[Path, list[Path]] = {}
    for folder in small:
        for path in sorted(folder.rglob("*.parquet")):
            files.setdefault(path.parent.relative_to(folder), []).append(path)
    for within, paths in sorted(files.items()):
        place = target / within
        written = partitioned_parquet.write(
            _rows(paths, schema), schema, (), place, f"part-{target.name}-{{}}.parquet", order
        )
        if not written:  # readers want a file to know the columns by
            place.mkdir(parents=True)
            pq.write_table(schema.empty_table(), place / "part-0.parquet", compression=ZSTD)


def _rows(paths: Iterable[Path], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for path in paths:
        with pq.ParquetFile(path) as file:
            for rows in file.iter_batches(_ROWS):
                there = set(rows.schema.names)
                columns = [
                    rows[one.name] if one.name in there else pa.nulls(len(rows), one.type)
                    for one in schema
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
