from __future__ import annotations

from typing import Any

import pytest

from barnabas.peers.recorded.api_versions import api_versions_response
from barnabas.specs import api


def decoded(version: int, data: bytes) -> dict[str, Any]:
    return api("ApiVersions").response.codec(version).decode(data)


def ranges(found: dict[str, Any]) -> dict[int, tuple[int, int]]:
    return {one["api_key"]: (one["min_version"], one["max_version"]) for one in found["api_keys"]}


OWN = {18: api("ApiVersions").versions}


@pytest.mark.parametrize("version", range(5))
def test_what_was_recorded_is_offered_in_each_version(version: int) -> None:
    found = decoded(version, api_versions_response(version, {3: (9, 12)}))
    assert (ranges(found), found["error_code"]) == ({3: (9, 12), **OWN}, 0)


def test_a_request_from_the_future_is_told_the_range() -> None:
    found = decoded(0, api_versions_response(99, {}))
    assert (ranges(found), found["error_code"]) == (OWN, 35)


def test_produce_is_offered_from_0_on() -> None:
    assert ranges(decoded(0, api_versions_response(0, {0: (9, 10)}))) == {0: (0, 10), **OWN}


def test_features_are_told_from_version_3_on_and_only_finalized_where_they_have_a_level() -> None:
    features = {"transaction.version": 2, "share.version": 0}
    for version in range(5):
        found = decoded(version, api_versions_response(version, {3: (9, 12)}, features))
        if version < 3:
            assert "supported_features" not in found
            continue
        assert {one["name"]: one["max_version"] for one in found["supported_features"]} == features
        (finalized,) = found["finalized_features"]
        assert (finalized["name"], finalized["max_version_level"]) == ("transaction.version", 2)
        assert found["finalized_features_epoch"] == 0
