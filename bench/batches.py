"""A record batch built and read, side by side with the clients' own codecs, in interleaved rounds."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, Final

from rich.table import Table

from barnabas.specs import records
from barnabas.specs.records import Record
from bench import codecs
from bench.codecs import Task

COUNT: Final = 1000
SIZE: Final = 100
"""Bytes of a record's value."""


_task: Final = functools.partial(Task, "a batch")


def content() -> list[Record]:
    """Return the records of the measured batch."""
    return [Record(i, 1_500_000_000_000 + i, None, bytes((i & 255,)) * SIZE) for i in range(COUNT)]


def tasks() -> tuple[list[Task], str]:
    """All that can take part, after a check that they agree on the bytes; and who can't."""
    results = content()
    data = records.build(results)
    all_tasks = [
        _task("barnabas", "read", lambda: [batch.records() for batch in records.read(data)]),
        _task("barnabas", "build", lambda: records.build(results)),
    ]
    missing = []
    for name, make in (("kafka-python", _kafka_python), ("aiokafka", _aiokafka)):
        try:
            made = make(results, data)
        except ImportError as problem:
            missing.append(f"{name}: {problem}")
            continue
        for task in made:
            result = task.work()
            # kafka-python has 0 for the leader epoch that a producer does not know
            if task.label == "build" and bytes(result)[16:] != data[16:]:
                raise AssertionError(f"{task.codec} builds other bytes")
            if task.label == "read" and len(result) != COUNT:
                raise AssertionError(f"{task.codec} reads {len(result)} records")
        all_tasks += made
    return all_tasks, "; ".join(missing)


def _kafka_python(results: list[Record], data: bytes) -> list[Task]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder

    def build() -> Any:
        builder = MemoryRecordsBuilder(2, 0, 1 << 24)
        for record in results:
            builder.append(timestamp=record.timestamp, key=record.key, value=record.value)
        builder.close()
        return builder.buffer()

    return [
        _task("kafka-python", "read", lambda: list(MemoryRecords(data).next_batch())),
        _task("kafka-python", "build", build),
    ]


def _aiokafka(results: list[Record], data: bytes) -> list[Task]:
    from aiokafka.record import default_records as theirs

    made = []
    for name, reader, builder in (
        ("aiokafka, Python", theirs._DefaultRecordBatchPy, theirs._DefaultRecordBatchBuilderPy),
        ("aiokafka, C", theirs.DefaultRecordBatch, theirs.DefaultRecordBatchBuilder),
    ):

        def read(reader: Any = reader) -> Any:
            return list(reader(bytearray(data)))

        def build(builder: Any = builder) -> Any:
            batch = builder(
                magic=2,
                compression_type=0,
                is_transactional=0,
                producer_id=-1,
                producer_epoch=-1,
                base_sequence=-1,
                batch_size=1 << 24,
            )
            for record in results:
                batch.append(record.offset, record.timestamp, record.key, record.value, [])
            return batch.build()

        made += [_task(name, "read", read), _task(name, "build", build)]
    return made


def measure(rounds: int, seconds: float, progress: Callable[[str], None]) -> tuple[list[Task], str]:
    """Each task for this long in every round."""
    results, remark = tasks()
    for number in range(rounds):
        progress(f"batches: round {number + 1} of {rounds}")
        codecs.time(results, seconds)
    return results, remark


def table(results: list[Task], remark: str) -> Table:
    """Tabulate reading and building of batches; brackets hold the ratio to ours."""
    content = f"a batch of {COUNT:,} records of {SIZE} bytes, all of them made"
    return codecs.table(results, remark, "record batches: µs", content)
