"""Error codes of the consumer rewrite: its page names them; the numbers came later, or never.

Names: Kafka 0.9 Consumer Rewrite Design (state diagrams, configs, co-ordinator failover). Numbers:
comments and constants of kafka.common.ErrorMapping in 0.8.2 and 0.9.
"""

from __future__ import annotations

from typing import Final

from barnabas.specs.dialects.dialect import DialectError

# fmt: off
_ERROR_MAPPING: Final = "the page; number of kafka.common.ErrorMapping"

REWRITE_ERRORS: Final = (
    DialectError(-1, "Unknown", "Kafka 0.8 protocol guide, error codes"),
    DialectError(0, "NoError", "Kafka 0.8 protocol guide, error codes"),
    # the page has one name for a coordinator that still loads; 0.8.2 calls it OffsetsLoadInProgress
    DialectError(14, "CoordinatorStartupNotComplete", _ERROR_MAPPING, ("code",)),
    # in 0.8.2 NotCoordinatorForConsumer
    DialectError(16, "NotCoordinatorForGroup", _ERROR_MAPPING),
    DialectError(22, "IllegalGeneration", _ERROR_MAPPING),
    DialectError(23, "InconsistentPartitioningStrategy", _ERROR_MAPPING),
    # in section Configs UnknownPartitionAssignmentStrategyException
    DialectError(24, "UnknownPartitioningStrategy", _ERROR_MAPPING),
    # the page spells it UnknownConsumer and UnknownConsumerId
    DialectError(25, "UnknownConsumerId", _ERROR_MAPPING),
    # later InvalidSessionTimeout, for too low ones as well
    DialectError(26, "SessionTimeoutTooHigh", _ERROR_MAPPING),
)
"""The errors of all drafts of the page. No version of the page numbers them: the numbers are Kafka's for the
same conditions."""

ILLEGAL_PROTOCOL_STATE: Final = DialectError(
    29, "IllegalProtocolState", "the page, co-ordinator failover: 'probably' that", ("code",)
)
"""The error of a JoinGroup while the coordinator loads. Never numbered: 29 is the first after those of the
rewrite; 0.9 assigned it, and 30, to errors of authorization."""

HEARTBEAT_FREQUENCY_TOO_HIGH: Final = DialectError(
    30, "HeartbeatFrequencyTooHigh", "the page, server side configs, as of draft C", ("code",)
)
"""For a JoinGroup with heartbeats more frequent than min.heartbeat.interval. Never numbered."""
