"""Wrong answers to requests of administrators."""

from __future__ import annotations

from typing import Final

from tests.conform.recordings import Wrong, with_fields

SET: Final = {
    "entries": [
        {
            "entity": [{"entity_type": "user", "entity_name": "u"}],
            "values": [{"key": "producer_byte_rate", "value": 12345.0}],
        }
    ]
}

WRONG: Final[dict[str, Wrong]] = {
    "admin/log-dirs-grow": with_fields("DescribeLogDirs", -1, {"results": []}),
    "admin/quorum-leader": with_fields(
        "DescribeQuorum", -1, {"topics[0].partitions[0].leader_id": 2}
    ),
    "admin/features-unknown": with_fields("UpdateFeatures", -1, {"error_code": "NONE"}),
    "admin/quota-set": with_fields("DescribeClientQuotas", -1, SET),
    "admin/quota-unknown-key": with_fields(
        "AlterClientQuotas", -1, {"entries[0].error_code": "NONE"}
    ),
    "admin/quota-validate-only": with_fields("DescribeClientQuotas", -1, SET),
    "admin/scram-set": with_fields(
        "DescribeUserScramCredentials", -1, {"results[0].credential_infos[0].iterations": 8192}
    ),
    "admin/scram-few-iterations": with_fields(
        "AlterUserScramCredentials", -1, {"results[0].error_code": "NONE"}
    ),
    "admin/scram-unknown-user": with_fields(
        "DescribeUserScramCredentials", -1, {"results[0].error_code": "NONE"}
    ),
    "admin/producers": with_fields(
        "DescribeProducers", -1, {"topics[0].partitions[0].active_producers[0].last_sequence": 0}
    ),
    "admin/producers-unknown-topic": with_fields(
        "DescribeProducers", -1, {"topics[0].partitions[0].error_code": "NONE"}
    ),
}
