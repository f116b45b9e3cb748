"""Wrong answers to the checks of quotas."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.expectations import AtLeast
from tests.conform.recordings import Wrong, with_fields
from tests.conform.wrong.changes import shifted
from tests.conform.wrong.replaced import replaced
from tests.conform.wrong.revealed import revealed

ALTER: Final = "AlterClientQuotas"
DESCRIBE: Final = "DescribeClientQuotas"
ACCEPTED: Final = {"entries[0].error_code": "NONE"}
NO_QUOTAS: Final[dict[str, Any]] = {"entries": []}


def _never(api: str) -> Wrong:
    return replaced(api, "throttle_time_ms", AtLeast(1), 0)


WRONG: Final[dict[str, Wrong]] = {
    "quota/client-id": with_fields(DESCRIBE, -1, {"entries[0].values[0].value": 1000.0}),
    "quota/strict": with_fields(DESCRIBE, -1, NO_QUOTAS),
    "quota/filter-two": with_fields(DESCRIBE, -1, NO_QUOTAS),
    "quota/filter-any-name": with_fields(DESCRIBE, -1, NO_QUOTAS),
    "quota/filter-default": revealed(DESCRIBE, "entries"),
    "quota/filter-twice": with_fields(DESCRIBE, 0, {"error_code": "NONE"}),
    "quota/filter-unknown-type": with_fields(DESCRIBE, 0, {"error_code": "NONE"}),
    "quota/filter-empty-type": with_fields(DESCRIBE, 0, {"error_code": "NONE"}),
    "quota/entity-unknown-type": with_fields(ALTER, 0, ACCEPTED),
    "quota/entity-empty": with_fields(ALTER, 0, ACCEPTED),
    "quota/value-negative": with_fields(ALTER, 0, ACCEPTED),
    "quota/value-fraction": with_fields(ALTER, 0, ACCEPTED),
    "quota/several-entities": with_fields(DESCRIBE, -1, NO_QUOTAS),
    "quota/remove-unset": with_fields(ALTER, 0, {"entries[0].error_code": "INVALID_REQUEST"}),
    "quota/throttle-produce": _never("Produce"),
    "quota/throttle-fetch": _never("Fetch"),
    "quota/throttle-mutes": shifted("ApiVersions", 0, -6),
    "quota/throttle-others": with_fields("Produce", -1, {"throttle_time_ms": 100}),
    "quota/throttle-topics": _never("CreateTopics"),
}
