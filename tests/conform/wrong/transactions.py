"""Wrong answers about transactions."""

from __future__ import annotations

from typing import Final

from tests.conform.recordings import Wrong, with_fields
from tests.conform.wrong.changes import fetched, produced, row

ADDED: Final = "results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code"

WRONG: Final[dict[str, Wrong]] = {
    "txn/init": with_fields("InitProducerId", 0, {"producer_epoch": 1}),
    "txn/init-bumps-epoch": with_fields("InitProducerId", 1, {"producer_epoch": 0}),
    "txn/init-aborts-open": with_fields("EndTxn", 0, {"error_code": "NONE"}),
    "txn/init-timeout-too-long": with_fields("InitProducerId", 0, {"error_code": "NONE"}),
    "txn/init-epoch-given": with_fields("InitProducerId", 3, {"error_code": "NONE"}),
    "txn/init-keeps-epoch-chain": with_fields("InitProducerId", 1, {"producer_epoch": 0}),
    "txn/add-old-epoch": with_fields(
        "AddPartitionsToTxn",
        0,
        {ADDED: "NONE"},
    ),
    "txn/end-old-epoch": with_fields("EndTxn", 0, {"error_code": "NONE"}),
    "txn/end-unknown": with_fields("EndTxn", 0, {"error_code": "NONE"}),
    "txn/end-other-producer-id": with_fields("EndTxn", 0, {"error_code": "NONE"}),
    "txn/end-empty": with_fields("EndTxn", 0, {"error_code": "NONE"}),
    "txn/commit-again": with_fields("EndTxn", -1, {"error_code": "INVALID_TXN_STATE"}),
    "txn/commit-then-abort": with_fields("EndTxn", 2, {"error_code": "NONE"}),
    "txn/abort-then-commit": with_fields("EndTxn", 2, {"error_code": "NONE"}),
    "txn/produce-not-added": with_fields(
        "Produce", 0, {"responses[0].partition_responses[0].error_code": "NONE"}
    ),
    "txn/produce-old-epoch": with_fields(
        "Produce", 2, {"responses[0].partition_responses[0].error_code": "NONE"}
    ),
    "txn/produce-adds-partition": with_fields("EndTxn", 0, {"error_code": "INVALID_TXN_STATE"}),
    "txn/end-bumps-epoch": with_fields("EndTxn", 0, {"producer_epoch": 0}),
    "txn/end-bumped-retry": with_fields("EndTxn", 1, {"error_code": "PRODUCER_FENCED"}),
    "txn/add-unknown-topic": with_fields(
        "AddPartitionsToTxn",
        0,
        {ADDED: "NONE"},
    ),
    "txn/add-again": with_fields(
        "AddPartitionsToTxn",
        1,
        {ADDED: "INVALID_TXN_STATE"},
    ),
    "txn/expires": with_fields("EndTxn", 0, {"error_code": "NONE"}),
    "txn/describe": with_fields(
        "DescribeTransactions", 0, {"transaction_states[0].transaction_state": "Empty"}
    ),
    "txn/describe-unknown": with_fields(
        "DescribeTransactions", 0, {"transaction_states[0].error_code": "NONE"}
    ),
    "txn/list": with_fields("ListTransactions", 0, {"transaction_states": []}),
    "isolation/open": with_fields("Fetch", 0, {"responses[0].partitions[0].last_stable_offset": 3}),
    "isolation/open-uncommitted": with_fields(
        "Fetch", 0, {"responses[0].partitions[0].records": b""}
    ),
    "isolation/committed": with_fields(
        "Fetch",
        0,
        {
            "responses[0].partitions[0].aborted_transactions": [
                {"producer_id": 1, "first_offset": 0}
            ]
        },
    ),
    "isolation/aborted": with_fields(
        "Fetch", -1, {"responses[0].partitions[0].aborted_transactions[0].first_offset": 0}
    ),
    "isolation/aborted-two": with_fields(
        "Fetch", -1, {"responses[0].partitions[0].aborted_transactions": []}
    ),
    "isolation/uncommitted-lists-none": with_fields(
        "Fetch", -1, {"responses[0].partitions[0].aborted_transactions": []}
    ),
    "isolation/markers": with_fields("Fetch", -1, {"responses[0].partitions[0].records": b""}),
    "isolation/interleaved": with_fields(
        "Fetch", 0, {"responses[0].partitions[0].last_stable_offset": 1}
    ),
    "isolation/latest-offset": with_fields("ListOffsets", 1, {"topics[0].partitions[0].offset": 3}),
    "isolation/not-transactional": with_fields(
        "Fetch", -1, {"responses[0].partitions[0].records": b""}
    ),
    "isolation/offsets-pending": with_fields(
        "OffsetFetch", 0, {"topics[0].partitions[0].committed_offset": 5}
    ),
    "isolation/offsets-committed": with_fields(
        "OffsetFetch", -1, {"topics[0].partitions[0].committed_offset": 4}
    ),
    "isolation/offsets-aborted": with_fields(
        "OffsetFetch", 0, {"topics[0].partitions[0].committed_offset": 5}
    ),
    "isolation/offsets-unstable": with_fields(
        "OffsetFetch", 0, {"topics[0].partitions[0].error_code": "NONE"}
    ),
    "isolation/offsets-unknown-member": with_fields(
        "TxnOffsetCommit", 0, {"topics[0].partitions[0].error_code": "NONE"}
    ),
    "txn/add-unknown-id": with_fields("AddPartitionsToTxn", 0, {ADDED: "NONE"}),
    "txn/add-offsets-unknown-id": with_fields("AddOffsetsToTxn", 0, {"error_code": "NONE"}),
    "txn/add-offsets-old-epoch": with_fields("AddOffsetsToTxn", 0, {"error_code": "NONE"}),
    "txn/init-longest-timeout": with_fields("InitProducerId", 1, {"error_code": "NONE"}),
    "txn/init-timeout-not-positive": with_fields("InitProducerId", 1, {"error_code": "NONE"}),
    "txn/produce-after-end": with_fields(
        "Produce", 1, {"responses[0].partition_responses[0].error_code": "NONE"}
    ),
    "txn/produce-outside": with_fields(
        "Produce", 1, {"responses[0].partition_responses[0].error_code": "NONE"}
    ),
    "txn/produce-without-id": with_fields(
        "Produce", 0, {"responses[0].partition_responses[0].error_code": "NONE"}
    ),
    "isolation/offsets-old-epoch": with_fields(
        "TxnOffsetCommit", 1, {"topics[0].partitions[0].error_code": "NONE"}
    ),
    "isolation/offsets-old-generation": with_fields(
        "TxnOffsetCommit", 1, {"topics[0].partitions[0].error_code": "NONE"}
    ),
    "isolation/time-in-open-transaction": row("ListOffsets", 1, 0, offset=0),
    "isolation/aborted-before": fetched(
        -1, aborted_transactions=[{"producer_id": 1, "first_offset": 0}]
    ),
    "txn/abort-nothing": with_fields("EndTxn", 0, {"producer_epoch": 0}),
    "txn/commit-next": with_fields("EndTxn", -1, {"error_code": "NONE"}),
    "txn/end-again-otherwise": with_fields("EndTxn", -1, {"error_code": "NONE"}),
    "txn/abort-fenced": with_fields("EndTxn", 0, {"error_code": "NONE"}),
    "txn/end-next-epoch": with_fields("EndTxn", 0, {"error_code": "NONE"}),
    "txn/produce-ended-epoch": produced(-1, error_code="NONE"),
    "txn/produce-next-epoch": produced(0, error_code="NONE"),
    "txn/first-sequence": produced(0, error_code="NONE"),
    "txn/produce-other-producer-id": produced(0, error_code="NONE"),
    "txn/end-after-init": with_fields("EndTxn", 1, {"error_code": "NONE"}),
    "txn/describe-ended": with_fields(
        "DescribeTransactions", 1, {"transaction_states[0].transaction_state": "CompleteCommit"}
    ),
    "isolation/offsets-begin": with_fields(
        "OffsetFetch", -1, {"groups[0].topics[0].partitions[0].committed_offset": 4}
    ),
    "isolation/offsets-ended-epoch": row("TxnOffsetCommit", 0, 0, error_code="NONE"),
    "isolation/offsets-not-added": row("TxnOffsetCommit", 0, 0, error_code="NONE"),
}
