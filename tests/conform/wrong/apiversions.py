"""Wrong answers about apiversions."""

from __future__ import annotations

from typing import Final

from tests.conform.recordings import Wrong, closed, stays_open, with_fields

WRONG: Final[dict[str, Wrong]] = {
    "apiversions/before-all": with_fields("ApiVersions", 0, {"error_code": "UNKNOWN_SERVER_ERROR"}),
    "apiversions/too-new": Wrong("ApiVersions", 0, closed),
    "apiversions/ranges": with_fields("ApiVersions", 0, {"api_keys[0].api_key": 1}),
    "apiversions/same-in-all-versions": with_fields("ApiVersions", 4, {"api_keys[0].api_key": 1}),
    "apiversions/software-name-empty": with_fields("ApiVersions", 0, {"error_code": "NONE"}),
    "apiversions/software-name-pattern": with_fields("ApiVersions", 0, {"error_code": "NONE"}),
    "apiversions/features-min-zero": with_fields(
        "ApiVersions", 0, {"supported_features[0].min_version": 0}
    ),
    "apiversions/finalized-features": with_fields(
        "ApiVersions", 0, {"finalized_features[0].max_version_level": 99}
    ),
    "apiversions/produce-floor": with_fields("ApiVersions", 0, {"api_keys[0].min_version": 1}),
    "apiversions/zk-migration-ready": with_fields("ApiVersions", 0, {"zk_migration_ready": True}),
    "apiversions/not-offered": stays_open(),
}
