"""Wrong answers about apiversions."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.conform.recordings import Wrong, answered, closed, with_fields

WRONG: Final[dict[str, Wrong]] = {
    "apiversions/before-all": partial(
        with_fields, "ApiVersions", 0, {"error_code": "UNKNOWN_SERVER_ERROR"}
    ),
    "apiversions/too-new": partial(answered, "ApiVersions", 0, closed),
    "apiversions/ranges": partial(with_fields, "ApiVersions", 0, {"api_keys[0].api_key": 1}),
    "apiversions/same-in-all-versions": partial(
        with_fields, "ApiVersions", 4, {"api_keys[0].api_key": 1}
    ),
    "apiversions/software-name-empty": partial(
        with_fields, "ApiVersions", 0, {"error_code": "NONE"}
    ),
    "apiversions/software-name-pattern": partial(
        with_fields, "ApiVersions", 0, {"error_code": "NONE"}
    ),
    "apiversions/features-min-zero": partial(
        with_fields, "ApiVersions", 0, {"supported_features[0].min_version": 0}
    ),
    "apiversions/finalized-features": partial(
        with_fields, "ApiVersions", 0, {"finalized_features[0].max_version_level": 99}
    ),
    "apiversions/produce-floor": partial(
        with_fields, "ApiVersions", 0, {"api_keys[0].min_version": 1}
    ),
    "apiversions/zk-migration-ready": partial(
        with_fields, "ApiVersions", 0, {"zk_migration_ready": True}
    ),
}
