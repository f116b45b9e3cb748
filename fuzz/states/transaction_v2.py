"""The alphabet of a transactional producer of version 2 (KIP-890, part 2).

Produce and TxnOffsetCommit begin a transaction by themselves, and each EndTxn returns the next epoch.
Brokers: TransactionCoordinator, ProducerStateManager.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.fuzz.states.alphabet import REFUSED, Alphabet, Answer, Input, Memory
from barnabas.fuzz.states.transaction import (
    BATCH,
    DESCRIBE,
    INIT,
    begins,
    commit_offsets,
    end,
    initialized,
    last_epoch,
    produce,
)
from barnabas.specs import keys
from barnabas.specs.groups import NONE
from barnabas.specs.groups import TRANSACTION_V2 as TABLE
from barnabas.specs.groups.transaction import ABORT, COMMIT, OFFSET_COMMIT, PRODUCE
from barnabas.specs.groups.transaction_v2 import ABORT_AGAIN, COMMIT_AGAIN, GAP

VERSIONS: Final[Mapping[int, int]] = {
    keys.PRODUCE: 12,
    keys.TXN_OFFSET_COMMIT: 5,
    keys.END_TXN: 5,
}
"""The versions of transactions v2; newer ones have topic ids."""


def _next_epoch(memory: Memory) -> Memory | None:
    return {**memory, "producer_epoch": memory["producer_epoch"] + 1}


def _has_produced(memory: Memory) -> Memory | None:
    """Return the memory; None without a batch in this epoch, since a first one would begin a transaction."""
    return memory if memory["sequence"] else None


def _ended(memory: Memory, answer: Answer, error: str) -> None:
    if error == NONE:
        memory["bumped"] = answer["producer_epoch"] - memory["producer_epoch"]
        initialized(memory, answer, error)


def _epoch(memory: Memory, answer: Answer) -> str:
    """Return the response's epoch relative to the producer's epoch before."""
    return f"epoch + {memory['bumped']}" if answer["producer_epoch"] >= 0 else ""


def _end(name: str, event: str, again: str) -> tuple[Input, Input]:
    """Return an EndTxn, and its repetition with the epoch before, as after a lost response.

    The repetition also follows it: while the broker writes markers, its response is CONCURRENT_TRANSACTIONS.
    """
    commit = event == COMMIT
    repeated = end(f"{name}, of the last epoch", again, commit=commit, producer_of=last_epoch)
    repeated = repeated._replace(heard=_ended, shown=_epoch, most=VERSIONS[keys.END_TXN])
    first = end(name, event, commit=commit)._replace(
        heard=_ended, shown=_epoch, most=VERSIONS[keys.END_TXN], sent_after=repeated
    )
    return first, repeated


_PRODUCE: Final = VERSIONS[keys.PRODUCE]
_COMMIT_OFFSETS: Final = VERSIONS[keys.TXN_OFFSET_COMMIT]

TRANSACTION_V2: Final = Alphabet(
    "transaction-v2",
    "a transactional producer of transactions v2 (KIP-890)",
    (keys.INIT_PRODUCER_ID, *VERSIONS),
    begins,
    (
        INIT,
        produce("Produce", event=PRODUCE, most=_PRODUCE),
        produce("Produce of the last batch again", _has_produced, ahead=-BATCH, most=_PRODUCE),
        produce("Produce after a gap", ahead=2 * BATCH, event=GAP, most=_PRODUCE),
        produce("Produce of the last epoch", last_epoch, event=REFUSED, most=_PRODUCE),
        produce("Produce of the next epoch", _next_epoch, event=REFUSED, most=_PRODUCE),
        commit_offsets("TxnOffsetCommit", OFFSET_COMMIT, _COMMIT_OFFSETS),
        commit_offsets("TxnOffsetCommit of the last epoch", REFUSED, _COMMIT_OFFSETS, last_epoch),
        *_end("EndTxn, commit", COMMIT, COMMIT_AGAIN),
        *_end("EndTxn, abort", ABORT, ABORT_AGAIN),
        end("EndTxn of the next epoch", REFUSED, commit=True, producer_of=_next_epoch)._replace(
            most=VERSIONS[keys.END_TXN]
        ),
        DESCRIBE,
    ),
    TABLE,
    at_least=VERSIONS,
    describes=DESCRIBE.name,
)
