"""Wrong answers to the checks of ACLs and of what they allow."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.acls import PREFIXED, WRITE
from barnabas.conform.expectations import Not
from tests.conform.recordings import Wrong, stays_open, with_body, with_fields
from tests.conform.wrong.replaced import replaced
from tests.conform.wrong.revealed import revealed

CREATE: Final = "CreateAcls"
DESCRIBE: Final = "DescribeAcls"
DELETE: Final = "DeleteAcls"
DENIED: Final = "TOPIC_AUTHORIZATION_FAILED"
CREATED: Final = {"results[0].error_code": "NONE"}
NO_ACLS: Final[dict[str, Any]] = {"resources": []}
_FETCHED: Final = "responses[0].partitions[0]"


def _doubled(body: Any) -> None:
    """List each ACL twice."""
    for resource in body["resources"]:
        resource["acls"] *= 2


_ACLS: Final[dict[str, Wrong]] = {
    "acl/create-describe": with_fields(DESCRIBE, -1, {"resources[0].acls[0].host": "*"}),
    "acl/create-twice": with_body(DESCRIBE, -1, _doubled),
    "acl/results-in-order": with_fields(
        CREATE, 0, {"results[0].error_code": "INVALID_REQUEST", "results[1].error_code": "NONE"}
    ),
    "acl/delete": with_fields(DESCRIBE, -1, {"resources[0].acls[0].operation": WRITE}),
    "acl/delete-nothing": with_fields(
        DELETE, 0, {"filter_results[0].error_code": "INVALID_REQUEST"}
    ),
    "acl/filters": with_fields(DESCRIBE, -1, NO_ACLS),
    "acl/pattern-literal": with_fields(DESCRIBE, -1, {"resources[0].pattern_type": PREFIXED}),
    "acl/pattern-prefixed": revealed(DESCRIBE, "resources"),
    "acl/pattern-match": with_fields(DESCRIBE, -1, NO_ACLS),
    "acl/delete-match": with_fields(DELETE, 0, {"filter_results[0].matching_acls": []}),
    "acl/create-any": with_fields(CREATE, -1, CREATED),
    "acl/create-principal-invalid": with_fields(CREATE, 0, CREATED),
    "acl/create-name-empty": with_fields(CREATE, 0, CREATED),
    "acl/create-cluster-name": with_fields(CREATE, 0, CREATED),
    "acl/create-unknown": stays_open(),
    "acl/describe-unknown": stays_open(),
    "acl/disabled-describe": with_fields(DESCRIBE, -1, {"error_code": "NONE"}),
    "acl/disabled-create": with_fields(CREATE, 0, CREATED),
    "acl/disabled-delete": with_fields(DELETE, 0, {"filter_results[0].error_code": "NONE"}),
}

_RIGHTS: Final[dict[str, Wrong]] = {
    "acl/denied-metadata": with_fields(
        "Metadata", -1, {"topics[0].error_code": "UNKNOWN_TOPIC_OR_PARTITION"}
    ),
    "acl/denied-unknown-topic": with_fields(
        "Metadata", -1, {"topics[0].error_code": "UNKNOWN_TOPIC_OR_PARTITION"}
    ),
    "acl/metadata-hides": revealed("Metadata", "topics"),
    "acl/denied-produce": replaced(
        "Produce", "responses[*].partition_responses[*].error_code", DENIED, "NONE"
    ),
    "acl/denied-fetch": with_fields("Fetch", -1, {f"{_FETCHED}.error_code": "NONE"}),
    "acl/denied-offsets": with_fields(
        "ListOffsets", -1, {"topics[0].partitions[0].error_code": "NONE"}
    ),
    "acl/denied-create-topic": with_fields("CreateTopics", -1, {"topics[0].error_code": "NONE"}),
    "acl/denied-delete-topic": with_fields("DeleteTopics", -1, {"responses[0].error_code": "NONE"}),
    "acl/denied-group": with_fields("FindCoordinator", -1, {"coordinators[0].error_code": "NONE"}),
    "acl/denied-commit": with_fields(
        "OffsetCommit", -1, {"topics[0].partitions[0].error_code": "NONE"}
    ),
    "acl/denied-cluster": with_fields(CREATE, -1, CREATED),
    "acl/denied-describe": with_fields(DESCRIBE, 1, {"error_code": "NONE"}),
    "acl/allow": replaced(
        "Produce", "responses[*].partition_responses[*].error_code", DENIED, "NONE"
    ),
    "acl/allow-describe": with_fields("Fetch", -1, {f"{_FETCHED}.error_code": "NONE"}),
    "acl/allow-prefix": with_fields("Fetch", -1, {f"{_FETCHED}.error_code": DENIED}),
    "acl/deny-wins": with_fields("Fetch", -1, {f"{_FETCHED}.error_code": "NONE"}),
    "acl/delete-denies": with_fields("Fetch", -1, {f"{_FETCHED}.error_code": "NONE"}),
    "acl/allow-host": with_fields("Fetch", -1, {f"{_FETCHED}.error_code": "NONE"}),
    "acl/allow-group": replaced(
        "OffsetFetch", "error_code", "NONE", "GROUP_AUTHORIZATION_FAILED", match=0
    ),
    "acl/allow-transactional-id": replaced(
        "InitProducerId",
        "error_code",
        Not("TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    ),
}

WRONG: Final[dict[str, Wrong]] = {**_ACLS, **_RIGHTS}
