"""The states of a transactional producer of version 2 (KIP-890, part 2), given requests and responses.

Produce and TxnOffsetCommit begin a transaction. EndTxn returns the next epoch; repeated with the epoch
before, it has the same response.
"""

from __future__ import annotations

from typing import Final

from barnabas.specs.groups.table import NONE, OTHER, Table
from barnabas.specs.groups.transaction import (
    ABORT,
    ABORTED,
    COMMIT,
    COMMITTED,
    OFFSET_COMMIT,
    PRODUCE,
    READY,
    UNINITIALIZED,
)

OPEN: Final = "IN_TRANSACTION"

GAP: Final = "Produce after a gap"
COMMIT_AGAIN: Final = "commit of the last epoch"
ABORT_AGAIN: Final = "abort of the last epoch"

_OVER: Final = (READY, COMMITTED, ABORTED)

# fmt: off
TRANSACTION_V2: Final = Table(
    source="KIP-890; TransactionMetadata's states (broker)",
    states=(
        (UNINITIALIZED, "it has no producer id"),
        (READY, "it has a producer id, and no transaction"),
        (OPEN, "its transaction has the partition, the group or both"),
        (COMMITTED, "the last transaction was committed"),
        (ABORTED, "the last transaction was aborted"),
    ),
    rows=(
        *((state, "InitProducerId", NONE, READY) for state in (UNINITIALIZED, *_OVER, OPEN)),
        (UNINITIALIZED, "InitProducerId", OTHER, UNINITIALIZED),
        *((state, PRODUCE, NONE, OPEN) for state in (*_OVER, OPEN)),
        *((state, OFFSET_COMMIT, NONE, OPEN) for state in (*_OVER, OPEN)),
        # the coordinator adds the partition before its leader refuses the batch
        *((state, GAP, "OUT_OF_ORDER_SEQUENCE_NUMBER", OPEN) for state in (*_OVER, OPEN)),
        (OPEN, COMMIT, NONE, COMMITTED),
        # nothing needs to be aborted: a client that lost a response can't know
        *((state, ABORT, NONE, ABORTED) for state in (*_OVER, OPEN)),
        (COMMITTED, COMMIT_AGAIN, NONE, COMMITTED),
        (ABORTED, ABORT_AGAIN, NONE, ABORTED),
    ),
)
# fmt: on
