"""The states of a transactional producer with one partition and one group, given requests and responses.

A response without an error to a step without a row is the subject of KIP-890: records or offsets that belong
to no transaction, which nobody ends.
"""

from __future__ import annotations

from typing import Final

from barnabas.specs.groups.table import NONE, OTHER, Table

UNINITIALIZED: Final = "UNINITIALIZED"
READY: Final = "READY"
WITH_RECORDS: Final = "IN_TRANSACTION with records"
WITH_OFFSETS: Final = "IN_TRANSACTION with offsets"
WITH_BOTH: Final = "IN_TRANSACTION with both"
COMMITTED: Final = "COMMITTED"
ABORTED: Final = "ABORTED"

RECORDS: Final = "AddPartitionsToTxn"
OFFSETS: Final = "AddOffsetsToTxn"
PRODUCE: Final = "Produce"
OFFSET_COMMIT: Final = "TxnOffsetCommit"
COMMIT: Final = "commit"
ABORT: Final = "abort"

_OVER: Final = (READY, COMMITTED, ABORTED)
_OPEN: Final = (WITH_RECORDS, WITH_OFFSETS, WITH_BOTH)

# fmt: off
TRANSACTIONAL_PRODUCER: Final = Table(
    source="KIP-98, KIP-890; TransactionMetadata's states (broker)",
    states=(
        (UNINITIALIZED, "it has no producer id"),
        (READY, "it has a producer id, and no transaction"),
        (WITH_RECORDS, "its transaction has the partition"),
        (WITH_OFFSETS, "its transaction has the group"),
        (WITH_BOTH, "its transaction has both"),
        (COMMITTED, "the last transaction was committed"),
        (ABORTED, "the last transaction was aborted"),
    ),
    rows=(
        *((state, "InitProducerId", NONE, READY) for state in (UNINITIALIZED, *_OVER, *_OPEN)),
        (UNINITIALIZED, "InitProducerId", OTHER, UNINITIALIZED),
        *((state, RECORDS, NONE, WITH_RECORDS) for state in (*_OVER, WITH_RECORDS)),
        *((state, OFFSETS, NONE, WITH_OFFSETS) for state in (*_OVER, WITH_OFFSETS)),
        *((state, RECORDS, NONE, WITH_BOTH) for state in (WITH_OFFSETS, WITH_BOTH)),
        *((state, OFFSETS, NONE, WITH_BOTH) for state in (WITH_RECORDS, WITH_BOTH)),
        *((state, PRODUCE, NONE, state) for state in (WITH_RECORDS, WITH_BOTH)),
        *((state, OFFSET_COMMIT, NONE, state) for state in (WITH_OFFSETS, WITH_BOTH)),
        *((state, COMMIT, NONE, COMMITTED) for state in (*_OPEN, COMMITTED)),  # or repeated
        *((state, ABORT, NONE, ABORTED) for state in (*_OPEN, ABORTED)),
    ),
)
# fmt: on
