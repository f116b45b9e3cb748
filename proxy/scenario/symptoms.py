"""What users see when a client does not cope with a scenario: the words by which scenarios are found."""

from __future__ import annotations

from typing import Final

SYMPTOMS: Final = {
    "duplicates": "records are stored or processed twice",
    "lost-records": "records are missing from the log, or a consumer skips them",
    "out-of-order": "records are stored in another order than they were sent",
    "producer-fails": "a producer ends with an error",
    "producer-slow": "records are acknowledged late, or after retries",
    "consumer-stuck": "a consumer receives no records",
    "consumer-slow": "consumer lag grows",
    "consumer-fails": "a consumer ends with an error",
    "rebalances": "a group rebalances often, or a rebalance takes long",
    "commit-fails": "an offset commit or an acknowledgement fails",
    "offset-jumps": "a consumer continues at an unexpected offset",
    "transaction-fails": "a transaction is aborted, or does not end as requested",
    "wrong-broker": "requests go to a broker that is not the leader",
    "no-leader": "a topic, leader or coordinator is unknown or unavailable",
    "disconnects": "connections break, or responses are missing",
    "unsupported-version": "broker and client support different versions",
    "throttled": "a quota delays requests",
    "admin-fails": "requests of an administrator fail",
    "authentication": "clients must authenticate again",
    "timestamps": "timestamps of records are wrong",
}
"""Each symptom with its meaning."""
