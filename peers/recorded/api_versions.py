"""ApiVersions responses with the recorded versions only."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from barnabas.captures.kafka.exchange import UNSUPPORTED_VERSION
from barnabas.specs.keys import API_VERSIONS, PRODUCE
from barnabas.specs.registry import api

FEATURES_SINCE: Final = 3


def api_versions_response(
    version: int,
    recorded: Mapping[int, tuple[int, int]],
    features: Mapping[str, int] = MappingProxyType({}),
) -> bytes:
    """Return the body of an ApiVersions response.

    A request in an unknown version gets error 35 in v0, as brokers respond (KIP-511). All versions of
    ApiVersions itself are listed, unless `recorded` has it. Produce starts at v0, since librdkafka takes a
    broker for older than 0.10 otherwise.

    Args:
        version: of the request.
        recorded: first and last version by API key.
        features: finalized level by name (KIP-584; 0: none), included from v3 on.

    >>> body = api_versions_response(0, {3: (9, 12)})
    >>> api("ApiVersions").response.codec(0).decode(body)["api_keys"][0]
    {'api_key': 3, 'min_version': 9, 'max_version': 12}
    """
    ranges = {API_VERSIONS: api(API_VERSIONS).versions, **recorded}
    first, last = ranges[API_VERSIONS]
    if PRODUCE in ranges:
        ranges[PRODUCE] = (0, ranges[PRODUCE][1])
    known = first <= version <= last
    values: dict[str, Any] = {
        "error_code": 0 if known else UNSUPPORTED_VERSION,
        "api_keys": [
            {"api_key": key, "min_version": low, "max_version": high}
            for key, (low, high) in sorted(ranges.items())
        ],
    }
    codec = api(API_VERSIONS).response.codec(version if known else 0)
    if features and known and version >= FEATURES_SINCE:
        values |= {
            "supported_features": [
                {"name": name, "min_version": 0, "max_version": level}
                for name, level in features.items()
            ],
            "finalized_features_epoch": 0,
            "finalized_features": [
                {"name": name, "min_version_level": level, "max_version_level": level}
                for name, level in features.items()
                if level
            ],
        }
    return codec.encode(values)
