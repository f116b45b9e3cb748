"""Merges the small batches of a followed folder into a few large files.

The new folder of a table is made next to the old one, with links to files that stay, and both are exchanged
in one step. A reader that lists the files sees the old ones or the new ones. A reader with old names that
opens them later gets an error and lists again.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from barnabas.pipeline.tables.partitioned_parquet import ZSTD, write
from barnabas.pipeline.tables.schemas import FOLDERS, ORDER

FILE: Final = 128 << 20
"""Bytes of a batch's files from which on it is not merged."""
BATCHES: Final = 16
"""The number of small batches from which on they are merged."""

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_ROWS: Final = 2000


def compact(out: Path, run: Path, schemas: Mapping[str, pa.Schema]) -> None:
    """Merge the small batches of each table that has many. No other process may write them meanwhile.

    Args:
        out: The folder of the tables.
        run: A working folder on the same file system, whose earlier content is removed.
        schemas: The schemas of tables. Columns that an old file lacks are null.

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
        _merge(table, small, new_folder / small[-1].name, schema)
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


def _merge(table: str, small: Sequence[Path], target: Path, schema: pa.Schema) -> None:
    folders, order = (FOLDERS, ORDER) if table == "exchanges" else ((), ())
    rows = ds.dataset(
        [str(path) for folder in small for path in sorted(folder.rglob("*.parquet"))],
        schema,
        format="parquet",
        partitioning=ds.partitioning(pa.schema(map(schema.field, folders)), flavor="hive"),
        partition_base_dir=str(small[0].parent),
    ).to_batches(batch_size=_ROWS, batch_readahead=1, fragment_readahead=1, use_threads=False)
    if not write(rows, schema, folders, target, order):  # readers need a file with the columns
        target.mkdir()
        pq.write_table(schema.empty_table(), target / "part-0.parquet", compression=ZSTD)
