"""Layouts in the notation of Kafka's protocol guide, and what each version brought."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs.guide import changes, headers, history, lines, purpose, tree

FETCH_11 = """
Fetch Request (Version: 11) => replica_id max_wait_ms min_bytes max_bytes isolation_level session_id \
session_epoch [topics] [forgotten_topics_data] rack_id
  replica_id => INT32
  max_wait_ms => INT32
  min_bytes => INT32
  max_bytes => INT32
  isolation_level => INT8
  session_id => INT32
  session_epoch => INT32
  topics => topic [partitions]
    topic => STRING
    partitions => partition current_leader_epoch fetch_offset log_start_offset partition_max_bytes
      partition => INT32
      current_leader_epoch => INT32
      fetch_offset => INT64
      log_start_offset => INT64
      partition_max_bytes => INT32
  forgotten_topics_data => topic [partitions]
    topic => STRING
    partitions => INT32
  rack_id => STRING
"""

API_VERSIONS_3 = """
ApiVersions Response (Version: 3) => error_code [api_keys] throttle_time_ms \
[supported_features]<tag: 0> finalized_features_epoch<tag: 1> [finalized_features]<tag: 2> \
zk_migration_ready<tag: 3> _tagged_fields
  error_code => INT16
  api_keys => api_key min_version max_version _tagged_fields
    api_key => INT16
    min_version => INT16
    max_version => INT16
  throttle_time_ms => INT32
  supported_features<tag: 0> => name min_version max_version _tagged_fields
    name => COMPACT_STRING
    min_version => INT16
    max_version => INT16
  finalized_features_epoch<tag: 1> => INT64
  finalized_features<tag: 2> => name max_version_level min_version_level _tagged_fields
    name => COMPACT_STRING
    max_version_level => INT16
    min_version_level => INT16
  zk_migration_ready<tag: 3> => BOOLEAN
"""


@pytest.mark.parametrize("text", [FETCH_11, API_VERSIONS_3])
def test_the_notation_of_the_protocol_guide(text: str) -> None:
    head = re.match(r"\n(\w+) (Request|Response) \(Version: (\d+)\)", text)
    assert head
    name, direction, version = head.groups()
    layout = specs.api(name).message(direction.lower()).layout(int(version))
    assert "\n".join(["", *lines(head.group().strip(), layout), ""]) == text


@pytest.mark.parametrize("name", [name for _, name, _ in specs.REGISTRY])
def test_every_version_shows_every_field(name: str) -> None:
    api = specs.api(name)
    for message in (api.request, api.response):
        for version in range(api.versions[1] + 1):
            layout = message.layout(version)
            walked = list(layout.walk())
            paths = [each.dotted for each in walked]
            shown = [line.split(" =>")[0].strip() for line in lines(name, layout)[1:]]
            assert sorted(line.split("<")[0] for line in shown) == sorted(
                path[-1] for path, _, _ in walked
            )
            assert list(tree_paths(tree(layout))) == paths
            assert sorted(paths) == sorted(
                row.path
                for row in history(message)
                if row.versions[0] <= version <= row.versions[1]
                and not row.releases.startswith(("until", "only"))
            )
    what, source = purpose(api)
    assert what
    assert source


def tree_paths(fields: list[dict[str, Any]], prefix: str = "") -> Iterator[str]:
    for field in fields:
        yield prefix + field["name"]
        yield from tree_paths(field.get("fields", []), f"{prefix}{field['name']}.")


def test_the_headers_that_are_exceptions() -> None:
    assert headers(specs.api("ControlledShutdown"))["request"] == {0: (0, 0), 1: (1, 2), 2: (3, 3)}
    assert headers(specs.api("ApiVersions"))["response"] == {0: specs.api("ApiVersions").versions}


def test_what_each_version_brought() -> None:
    brought = changes(specs.api("Fetch"))
    assert brought[1] == ["+ response.throttle_time_ms"]
    assert brought[2] == []
    assert "compact and tagged encoding (KIP-482)" in brought[12]
    assert "+ response.responses.partitions.snapshot_id" in brought[12]
    assert not any("snapshot_id." in change for change in brought[12])
    assert brought[15] == ["- request.replica_id", "+ request.replica_state"]
    assert changes(specs.api("SaslHandshake")) == {1: []}
    assert "! response.responses.partitions.records" in changes(specs.api("ShareFetch"))[1]
    assert "? request.topics" in changes(specs.api("Metadata"))[1]
    assert changes(specs.api("EndQuorumEpoch"))[1][1] == (
        "- request.topics.partitions.preferred_successors"
    )


def test_fields_of_some_releases_say_so() -> None:
    rows = [row for row in history(specs.api("OffsetCommit").request) if row.releases]
    assert [(row.name, row.versions, row.releases) for row in rows] == [
        ("commit_timestamp", (0, 0), "only 0.8.2-beta")
    ]
