"""ApiVersions as the broker of a capture answers it: it offers what was recorded, and no more."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.captures.kafka.exchange import UNSUPPORTED_VERSION
from barnabas.specs.keys import API_VERSIONS, PRODUCE
from barnabas.specs.registry import api


def offered(version: int, recorded: Mapping[int, tuple[int, int]]) -> bytes:
    """The response's body. recorded: API key -> first and last version.

    A request newer than any known is answered in v0 with error 35, as brokers do (KIP-511). ApiVersions
    itself is offered as a whole unless `recorded` has it. Produce is offered from v0 on, since librdkafka
    takes a broker for older than 0.10 otherwise.

    >>> body = offered(0, {3: (9, 12)})
    >>> api("ApiVersions").response.codec(0).decode(body)["api_keys"][0]
    {'api_key': 3, 'min_version': 9, 'max_version': 12}
    """
    ranges = {API_VERSIONS: api(API_VERSIONS).versions, **recorded}
    first, last = ranges[API_VERSIONS]
    if PRODUCE in ranges:
        ranges[PRODUCE] = (0, ranges[PRODUCE][1])
    known = first <= version <= last
    values = {
        "error_code": 0 if known else UNSUPPORTED_VERSION,
        "api_keys": [
            {"api_key": key, "min_version": low, "max_version": high}
            for key, (low, high) in sorted(ranges.items())
        ],
    }
    return api(API_VERSIONS).response.codec(version if known else 0).encode(values)
