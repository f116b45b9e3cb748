"""Wrong answers about configs."""

from __future__ import annotations

from typing import Final

from tests.conform.recordings import Wrong, with_fields

WRONG: Final[dict[str, Wrong]] = {
    "configs/topic-complete": with_fields("DescribeConfigs", 0, {"results[0].configs": []}),
    "configs/topic-keys": with_fields("DescribeConfigs", 0, {"results[0].configs": []}),
    "configs/topic-value": with_fields(
        "DescribeConfigs", 0, {"results[0].configs[0].value": "604800000"}
    ),
    "configs/topic-unknown": with_fields("DescribeConfigs", 0, {"results[0].error_code": "NONE"}),
    "configs/topic-invalid-name": with_fields(
        "DescribeConfigs", 0, {"results[0].error_code": "NONE"}
    ),
    "configs/broker": with_fields("DescribeConfigs", 0, {"results[0].configs": []}),
    "configs/broker-other": with_fields("DescribeConfigs", 0, {"results[0].error_code": "NONE"}),
    "configs/unknown-type": with_fields("DescribeConfigs", 0, {"results[0].error_code": "NONE"}),
    "configs/synonyms": with_fields("DescribeConfigs", 0, {"results[0].configs[0].synonyms": []}),
    "configs/sensitive": with_fields(
        "DescribeConfigs", 0, {"results[0].configs[0].is_sensitive": True}
    ),
    "configs/type-and-documentation": with_fields(
        "DescribeConfigs", 0, {"results[0].configs[0].config_type": 6}
    ),
    "configs/set-and-delete": with_fields(
        "DescribeConfigs", 2, {"results[0].configs[0].value": "123456"}
    ),
    "configs/append": with_fields("DescribeConfigs", 0, {"results[0].configs[0].value": "compact"}),
    "configs/subtract": with_fields(
        "DescribeConfigs", 0, {"results[0].configs[0].value": "compact,delete"}
    ),
    "configs/append-to-number": with_fields(
        "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/twice-in-request": with_fields(
        "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/invalid-value": with_fields(
        "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/validate-only": with_fields(
        "DescribeConfigs", 0, {"results[0].configs[0].value": "1000"}
    ),
    "configs/unknown-topic-change": with_fields(
        "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/alter-replaces": with_fields(
        "DescribeConfigs", 1, {"results[0].configs[0].value": "123456"}
    ),
    "configs/group": with_fields("DescribeConfigs", 0, {"results[0].configs": []}),
    "configs/list-resources": with_fields("ListConfigResources", 0, {"config_resources": []}),
    "configs/read-only": with_fields(
        "DescribeConfigs", 0, {"results[0].configs[0].read_only": False}
    ),
    "configs/sources": with_fields(
        "DescribeConfigs", 0, {"results[0].configs[0].config_source": 4}
    ),
    "configs/describe-several": with_fields(
        "DescribeConfigs", 0, {"results[0].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "configs/alter-several": with_fields(
        "IncrementalAlterConfigs", 0, {"responses[0].error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "configs/unknown-name": with_fields(
        "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/null-value": with_fields(
        "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/out-of-range": with_fields(
        "IncrementalAlterConfigs", 1, {"responses[0].error_code": "NONE"}
    ),
    "configs/append-again": with_fields(
        "DescribeConfigs", 0, {"results[0].configs[0].value": "delete,delete"}
    ),
    "configs/takes-effect": with_fields(
        "Produce", -1, {"responses[0].partition_responses[0].error_code": "INVALID_RECORD"}
    ),
    "configs/defaults": with_fields("DescribeConfigs", 0, {"results[0].configs[0].value": "1"}),
}
