from __future__ import annotations

from barnabas.peers.recorded.offered import offered
from barnabas.specs import api


def test_what_was_recorded_is_offered_in_each_version() -> None:
    for version in range(5):
        found = api("ApiVersions").response.codec(version).decode(offered(version, {3: (9, 12)}))
        ranges = {
            one["api_key"]: (one["min_version"], one["max_version"]) for one in found["api_keys"]
        }
        assert ranges == {3: (9, 12), 18: api("ApiVersions").versions}
        assert found["error_code"] == 0


def test_a_request_from_the_future_is_told_the_range() -> None:
    found = api("ApiVersions").response.codec(0).decode(offered(99, {}))
    assert found["error_code"] == 35
    assert [one["api_key"] for one in found["api_keys"]] == [18]


def test_produce_is_offered_from_0_on() -> None:
    found = api("ApiVersions").response.codec(0).decode(offered(0, {0: (9, 10)}))
    assert (found["api_keys"][0]["min_version"], found["api_keys"][0]["max_version"]) == (0, 10)


def test_features_are_told_from_version_3_on_and_only_finalized_where_they_have_a_level() -> None:
    features = {"transaction.version": 2, "share.version": 0}
    for version in range(5):
        body = offered(version, {3: (9, 12)}, features)
        found = api("ApiVersions").response.codec(version).decode(body)
        if version < 3:
            assert "supported_features" not in found
            continue
        assert {one["name"]: one["max_version"] for one in found["supported_features"]} == features
        (finalized,) = found["finalized_features"]
        assert (finalized["name"], finalized["max_version_level"]) == ("transaction.version", 2)
        assert found["finalized_features_epoch"] == 0
