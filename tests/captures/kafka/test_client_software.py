"""The software that a client names."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.client_software import software_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.registry import api


def asked(name: str, version: int, values: dict[str, Any]) -> Exchange:
    body = api(name).request.codec(version).encode(values)
    return Exchange(0, 1, "", None, None, api(name).key, version, 0, 0, request_body=body)


def test_the_software_of_a_client() -> None:
    named = {"client_software_name": "librdkafka", "client_software_version": "2.16.1"}
    assert software_of(asked("ApiVersions", 3, named)) == "librdkafka 2.16.1"
    assert software_of(asked("ApiVersions", 0, {})) is None
    assert software_of(asked("Metadata", 1, {"topics": None})) is None
