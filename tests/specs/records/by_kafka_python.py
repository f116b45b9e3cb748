"""Records as kafka-python reads them."""

from __future__ import annotations

import warnings

from barnabas.specs.records import Record

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of its imports
    from kafka.record import MemoryRecords


def read_by_kafka_python(data: bytes) -> list[list[Record]]:
    """Return the records of each batch of a set, whose checksums are right."""
    batches, read = MemoryRecords(data), []
    while (batch := batches.next_batch()) is not None:
        assert batch.validate_crc()
        read.append(
            [
                Record(
                    r.offset,
                    -1 if r.timestamp is None else r.timestamp,
                    r.key,
                    r.value,
                    tuple(r.headers),
                )
                for r in batch
            ]
        )
    return read
