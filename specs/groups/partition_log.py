"""The states of a partition's end that one producer writes, readers read and an administrator deletes."""

from __future__ import annotations

from typing import Final

from barnabas.specs.groups.table import ANY, NONE, OTHER, Table

EMPTY: Final = "EMPTY"
STORED: Final = "STORED"
CUT: Final = "CUT"
DELETED: Final = "DELETED"

WRITE: Final = "Produce"
READ_FIRST: Final = "Fetch at the first offset"
READ_INSIDE: Final = "Fetch inside the first batch"
READ_START: Final = "Fetch at the log's start"
READ_END: Final = "Fetch at the end"
READ_AFTER: Final = "Fetch after the end"
DELETE_INSIDE: Final = "DeleteRecords inside the first batch"
DELETE_ALL: Final = "DeleteRecords up to the end"

_STATES: Final = (EMPTY, STORED, CUT, DELETED)
_WITH_RECORDS: Final = (STORED, CUT, DELETED)

# fmt: off
PARTITION_LOG: Final = Table(
    source="KIP-101, KIP-107; UnifiedLog",
    states=(
        (EMPTY, "no batch was written"),
        (STORED, "batches were written, and can be read"),
        (CUT, "the log starts inside the first batch"),
        (DELETED, "the first batch is deleted"),
    ),
    rows=(
        (EMPTY, WRITE, NONE, STORED),
        *((state, WRITE, NONE, state) for state in _WITH_RECORDS),
        *((state, READ_FIRST, ANY, state) for state in (EMPTY, STORED)),
        *((state, READ_INSIDE, ANY, state) for state in (STORED, CUT)),
        *((state, READ_START, NONE, state) for state in _STATES),
        *((state, READ_END, NONE, state) for state in _STATES),
        *((state, READ_AFTER, OTHER, state) for state in _STATES),
        (EMPTY, DELETE_INSIDE, OTHER, EMPTY),
        (STORED, DELETE_INSIDE, NONE, CUT),
        *((state, DELETE_INSIDE, ANY, state) for state in (CUT, DELETED)),  # nothing is left to delete
        (EMPTY, DELETE_ALL, NONE, EMPTY),
        *((state, DELETE_ALL, NONE, DELETED) for state in _WITH_RECORDS),
    ),
)
# fmt: on
