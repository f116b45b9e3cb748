"""Kills a batch of a folder that is followed before each of its steps, and does it again: FOLDER PLACE.

A step is what changes the folder of tables: a file that is opened to be written, one that is renamed, two
folders that change places ... The interpreter tells of each before it is done. No Spark: a batch is the same
function. Prints what it was killed before, as JSON.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

from barnabas.pipeline.streaming import compaction
from barnabas.pipeline.streaming.arrivals import NotedFiles
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.job import Job

TABLES: Final = ("exchanges", "inside", "errors", "connections", "notes", "quality")

KILLED: Final = 1
"""The batch that is killed: there is one before it, so two become one, and one behind it."""

CHANGES: Final = frozenset(("os.rename", "os.remove", "os.link", "shutil.rmtree", "ctypes.dlsym"))
"""Audit events of steps, beside `open`; the last one reports an exchange of folders. If a folder is removed,
each file is a step. A folder that is made is none: before the next step it is there, and empty."""

WRITING: Final = os.O_WRONLY | os.O_RDWR


def work(folder: Path, out: Path, numbers: Sequence[int]) -> None:
    """Do these batches, of two segments each."""
    paths = sorted(folder.iterdir())
    batches = Batches(out)
    for number in numbers[max(0, batches.count - numbers[0]) :]:  # as `Job.run` goes on
        files = NotedFiles(paths[number * 2 : number * 2 + 2], [])
        Job(None, folder, batches).batch(files, number)


def in_child(folder: Path, out: Path, numbers: Sequence[int], fatal: int = 0) -> str | None:
    """The same in another process, which dies before that step; what that was, or None: it came to its end.
    Raises AssertionError if it failed."""
    told = out.with_name("step")
    told.write_text("")
    child = os.fork()
    if not child:
        if fatal:
            _die_before(fatal, told)
        try:
            work(folder, out, numbers)
        except BaseException:  # noqa: BLE001 the parent is told
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return told.read_text()
    assert status == 0
    return None


def _die_before(fatal: int, told: Path) -> None:
    steps = itertools.count(1)
    last = told.open("w")

    def heard(event: str, args: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(args[2], int) and args[2] & WRITING
        if (writes or event in CHANGES) and next(steps) == fatal:
            last.write(f"{event} {args[0]}")
            last.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(heard)


def rows(out: Path) -> dict[str, Counter[str]]:
    """What is in the tables, in whatever batches."""
    found = {}
    for table in TABLES:
        files = sorted((out / table).rglob("*.parquet"))
        read = ds.dataset(files, partitioning="hive", partition_base_dir=str(out / table))
        names = [name for name in read.schema.names if name != "batch"]
        plain = read.to_table(columns=names, use_threads=False).to_pylist()
        found[table] = Counter(map(str, plain))
    return found


def main(folder: Path, place: Path) -> None:
    """All of it."""
    pa.set_cpu_count(1)
    vars(compaction)["BATCHES"] = 2  # as soon as there are two
    begun, out = place / "begun", place / "out"
    # here, not in a child: each of them has the modules and decoders that were made for it
    work(folder, begun, range(KILLED))
    shutil.copytree(begun, out)
    work(folder, out, range(KILLED, 3))
    before, right = rows(begun), rows(out)
    gc.freeze()
    steps = []
    for fatal in itertools.count(1):
        shutil.rmtree(out)
        shutil.copytree(begun, out)
        step = in_child(folder, out, [KILLED], fatal)
        seen = rows(out)
        for table in TABLES:
            assert before[table] <= seen[table] <= right[table], f"lost or doubled: {step}"
        in_child(folder, out, range(KILLED, 3))
        assert rows(out) == right, f"lost or doubled: {step}"
        if step is None:
            break  # the batch came to its end
        steps.append(step.replace(str(out), "OUT"))
    print(json.dumps(steps))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
