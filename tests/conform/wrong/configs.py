"""Wrong answers about configs."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.conform.recordings import Wrong, with_fields

WRONG: Final[dict[str, Wrong]] = {
    "configs/topic-complete": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].configs": []}
    ),
    "configs/topic-keys": partial(with_fields, "DescribeConfigs", 0, {"results[0].configs": []}),
    "configs/topic-value": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].configs[0].value": "604800000"}
    ),
    "configs/topic-unknown": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].error_code": "NONE"}
    ),
    "configs/topic-invalid-name": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].error_code": "NONE"}
    ),
    "configs/broker": partial(with_fields, "DescribeConfigs", 0, {"results[0].configs": []}),
    "configs/broker-other": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].error_code": "NONE"}
    ),
    "configs/unknown-type": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].error_code": "NONE"}
    ),
    "configs/synonyms": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].configs[0].synonyms": []}
    ),
    "configs/sensitive": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].configs[0].is_sensitive": True}
    ),
    "configs/type-and-documentation": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].configs[0].config_type": 6}
    ),
    "configs/set-and-delete": partial(
        with_fields, "DescribeConfigs", 2, {"results[0].configs[0].value": "123456"}
    ),
    "configs/append": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].configs[0].value": "compact"}
    ),
    "configs/subtract": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].configs[0].value": "compact,delete"}
    ),
    "configs/append-to-number": partial(
        with_fields, "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/twice-in-request": partial(
        with_fields, "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/invalid-value": partial(
        with_fields, "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/validate-only": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].configs[0].value": "1000"}
    ),
    "configs/unknown-topic-change": partial(
        with_fields, "IncrementalAlterConfigs", 0, {"responses[0].error_code": "NONE"}
    ),
    "configs/alter-replaces": partial(
        with_fields, "DescribeConfigs", 1, {"results[0].configs[0].value": "123456"}
    ),
    "configs/group": partial(with_fields, "DescribeConfigs", 0, {"results[0].configs": []}),
    "configs/list-resources": partial(
        with_fields, "ListConfigResources", 0, {"config_resources": []}
    ),
    "configs/read-only": partial(
        with_fields, "DescribeConfigs", 0, {"results[0].configs[0].read_only": False}
    ),
}
