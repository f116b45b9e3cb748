"""Addresses: every place is listed, and replacing them changes nothing else."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import specs
from specs.addresses import LEAKING, NOT_OURS, PLACES, Kind, patch, place_of
from specs.layout import Layout
from specs.malformed import Malformed

GOLDEN = Path(__file__).parents[1] / "golden" / "golden-a.jsonl.gz"


def places_in(layout: Layout, path: str = "") -> Iterator[str]:
    """The paths of all structures with a host and a port."""
    names = {slot.name for slot in layout.slots}
    if {"host", "port"} <= names:
        yield path
    for slot in layout.slots:
        inner = (slot.node.element or slot.node).struct
        if inner is not None:
            yield from places_in(inner, f"{path}{slot.name}.")


@pytest.mark.parametrize("key", [key for key, _, _ in specs.CONTENTS])
def test_every_place_with_an_address_is_patched_kept_out_or_explained(key: int) -> None:
    api = specs.api(key)
    for version in range(api.versions[0], api.versions[1] + 1):
        for path in places_in(api.response.layout(version)):
            place = place_of(key, version)
            listed = place is not None and place.path == path
            leaks = key in LEAKING and version >= LEAKING[key]
            assert listed or leaks or key in NOT_OURS, f"{api.name} v{version} {path}"


def test_nothing_is_listed_that_has_no_address() -> None:
    for key, places in PLACES.items():
        for version in range(specs.api(key).versions[1] + 1):
            expected = {p.path for p in places if p.first <= version <= p.last}
            assert set(places_in(specs.api(key).response.layout(version))) == expected


def elsewhere(kind: Kind, node: int, host: str, port: int) -> tuple[str, int]:
    return f"proxy-of-{host}", 7


def edited(value: Any) -> Any:
    """What `elsewhere` should make of decoded values."""
    match value:
        case list():
            return [edited(item) for item in value]
        case dict():
            value = {name: edited(inner) for name, inner in value.items()}
            if value.get("host") and value.get("node_id", value.get("broker_id", -1)) >= 0:
                value |= {"host": f"proxy-of-{value['host']}", "port": 7}
    return value


def golden_responses() -> list[tuple[int, int, bytes]]:
    with gzip.open(GOLDEN, "rt") as lines:
        frames = [json.loads(line) for line in lines]
    return [
        (frame["key"], frame["version"], bytes.fromhex(frame["hex"]))
        for frame in frames
        if frame["direction"] == "response" and place_of(frame["key"], frame["version"])
    ]


def test_only_addresses_change_in_every_golden_response() -> None:
    changed = 0
    for key, version, body in golden_responses():
        codec = specs.api(key).response.codec(version)
        before = codec.decode(body)
        patched = patch(key, version, body, elsewhere)
        changed += patched is not None
        assert codec.decode(patched or body) == edited(copy.deepcopy(before))
        assert codec.inspect(patched or body)[1] == []
    assert changed > 100


def test_an_unchanged_address_leaves_the_very_bytes() -> None:
    for key, version, body in golden_responses():
        assert patch(key, version, body, lambda kind, node, host, port: None) is None
        assert patch(key, version, body, lambda kind, node, host, port: (host, port)) is None


def test_controllers_are_told_apart_from_brokers() -> None:
    seen: list[Kind] = []

    def resolve(kind: Kind, node: int, host: str, port: int) -> None:
        seen.append(kind)

    codec = specs.api("DescribeCluster").response.codec(1)
    for endpoint_type in (1, 2):
        broker = {"broker_id": 1, "host": "a", "port": 1}
        body = codec.encode({"endpoint_type": endpoint_type, "brokers": [broker]})
        patch(60, 1, body, resolve)
    assert seen == ["broker", "controller"]


def test_a_node_without_an_address_is_left_alone() -> None:
    codec = specs.api("FindCoordinator").response.codec(2)
    body = codec.encode({"error_code": 15, "node_id": -1, "host": "", "port": -1})
    assert patch(10, 2, body, elsewhere) is None


def test_a_cut_off_body_is_the_documented_error() -> None:
    codec = specs.api("Metadata").response.codec(9)
    body = codec.encode({"brokers": [{"node_id": 1, "host": "host", "port": 1}]})
    for end in range(4, 15):
        with pytest.raises(Malformed):
            patch(3, 9, body[:end], elsewhere)
