"""Addresses: every place is listed, and replacing them changes nothing else."""

from __future__ import annotations

import copy
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.broker_addresses import (
    ADDRESS_FIELDS,
    NOT_OURS,
    AddressFields,
    NodeKind,
    address_fields,
    patch,
)
from barnabas.specs.codec.budget import BUDGET, TooLarge
from barnabas.specs.codec.careful_encoder import uvarint
from barnabas.specs.layout import Layout
from barnabas.specs.malformed import Malformed
from tests.golden.frames import golden_frames


def places_in(layout: Layout) -> Iterator[str]:
    for each in layout.walk():
        if each.slot.name == "host" and each.around.find("port"):
            yield each.dotted.removesuffix("host")


@pytest.mark.parametrize("key", [key for key, _, _ in specs.REGISTRY])
def test_every_place_with_an_address_is_patched_or_explained(key: int) -> None:
    api = specs.api(key)
    for version in range(api.versions[0], api.versions[1] + 1):
        for path in places_in(api.response.layout(version)):
            place = address_fields(key, version)
            listed = place is not None and place.path == path
            assert listed or key in NOT_OURS, f"{api.name} v{version} {path}"


def test_nothing_is_listed_that_has_no_address() -> None:
    for key, listed in ADDRESS_FIELDS.items():
        for version in range(specs.api(key).versions[1] + 1):
            expected = {p.path for p in listed if p.first <= version <= p.last}
            assert set(places_in(specs.api(key).response.layout(version))) == expected


def test_every_response_inside_another_is_explained() -> None:
    hiding = {place.message for place in embedded.BYTES_FIELDS if place.kind == "response"}
    assert {specs.api(key).response.name for key in NOT_OURS} >= hiding


def elsewhere(kind: NodeKind, node: int, host: str, port: int) -> tuple[str, int]:
    return f"proxy-of-{host}", 7


def edited(value: Any) -> Any:
    """What `elsewhere` should make of decoded values."""
    match value:
        case list():
            return [edited(item) for item in value]
        case dict():
            value = {name: edited(inner) for name, inner in value.items()}
            if "port" in value and (value["host"] or value["port"] > 0):
                value |= {"host": f"proxy-of-{value['host']}", "port": 7}
            for listener in value.get("listeners", ()):  # a node has one address
                if listener["host"] or listener["port"] > 0:
                    first = next(each for each in value["listeners"] if each["port"] == 7)
                    listener["host"] = first["host"]
    return value


def golden_responses() -> list[tuple[int, int, bytes]]:
    return [
        (frame["key"], frame["version"], bytes.fromhex(frame["hex"]))
        for frame in golden_frames("response")
        if address_fields(frame["key"], frame["version"])
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


def test_controllers_are_told_apart_from_brokers() -> None:
    seen: list[NodeKind] = []

    def resolve(kind: NodeKind, node: int, host: str, port: int) -> None:
        seen.append(kind)

    codec = specs.api("DescribeCluster").response.codec(1)
    for endpoint_type in (1, 2):
        broker = {"broker_id": 1, "host": "a", "port": 1}
        body = codec.encode({"endpoint_type": endpoint_type, "brokers": [broker]})
        patch(60, 1, body, resolve)
    assert seen == ["broker", "controller"]


def test_the_listeners_of_a_controller_all_become_the_one_of_the_proxy() -> None:
    """One that leads past the proxy would do for a client; ports of the quorum take two bytes."""
    seen: list[tuple[NodeKind, int, str, int]] = []

    def resolve(kind: NodeKind, node: int, host: str, port: int) -> tuple[str, int]:
        seen.append((kind, node, host, port))
        return "proxy", 65_000 + node

    codec = specs.api("DescribeQuorum").response.codec(2)
    plain = {"name": "PLAIN", "host": "c1", "port": 9093}
    nodes = [
        {"node_id": 1, "listeners": [plain, {"name": "TLS", "host": "c1", "port": 9094}]},
        {"node_id": 2, "listeners": []},
        {"node_id": 3, "listeners": [{**plain, "host": "c3"}]},
    ]
    patched = patch(55, 2, codec.encode({"nodes": nodes}), resolve)
    assert patched is not None
    found, odd = codec.inspect(patched)
    assert odd == []
    assert [
        (node["node_id"], each["name"], each["host"], each["port"])
        for node in found["nodes"]
        for each in node["listeners"]
    ] == [(1, "PLAIN", "proxy", 65_001), (1, "TLS", "proxy", 65_001), (3, "PLAIN", "proxy", 65_003)]
    assert seen == [("controller", 1, "c1", 9093), ("controller", 3, "c3", 9093)]


HELD = [
    (key, version)
    for key, places in ADDRESS_FIELDS.items()
    for version in range(specs.api(key).versions[0], specs.api(key).versions[1] + 1)
    if any(place.first <= version <= place.last for place in places)
]


def named(place: AddressFields, layout: Layout, nodes: range) -> dict[str, Any]:
    """A body that names nodes there; the first, if there is room for one. A listener may have a name."""
    owner = place.owner.split(".")[-1]
    found = [{owner: n, "host": f"real-{n}", "port": 9090 + n} for n in nodes]
    *above, holder = ["", *place.path.split(".")[:-1]]
    if above[1:]:  # each node has listeners
        found = [{owner: each.pop(owner), holder: [{"name": "L", **each}]} for each in found]
        holder = above[-1]
    if not holder:
        return found[0]
    (slot,) = [slot for slot in layout.slots if slot.name == holder]
    return {holder: found if slot.node.element else found[0]}


def hosts_in(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from hosts_in(item)
    elif isinstance(value, dict) and "host" not in value:
        yield from hosts_in([*value.values()])
    elif isinstance(value, dict) and (value["host"] or value["port"] > 0):
        yield value["host"]


@pytest.mark.parametrize(("key", "version"), HELD)
def test_whatever_byte_is_another_no_address_stays(key: int, version: int) -> None:
    """What is read behind it is replaced, all of it, or the body is refused."""
    place = address_fields(key, version)
    assert place is not None
    codec = specs.api(key).response.codec(version)
    regular = codec.encode(named(place, codec.layout, range(3)))
    addresses = codec.project(f"{place.path}host", f"{place.path}port")
    refused = 0
    for at in range(len(regular)):
        for value in {0, 1, 0x7F, 0x80, 0xFF, regular[at] - 1 & 0xFF, regular[at] + 1 & 0xFF}:
            body = regular[:at] + bytes([value]) + regular[at + 1 :]
            try:
                patched = patch(key, version, body, elsewhere) or body
                found = addresses(patched)
            except Malformed:
                refused += 1
                continue
            assert all(host.startswith("proxy-of-") for host in hosts_in(found)), (at, value)
    assert refused < 7 * len(regular) / 2


def brokers_again_and_again(times: int) -> tuple[int, int, bytes]:
    codec = specs.api("Metadata").response.codec(9)
    node = {"node_id": 1, "host": "h", "port": 1}
    one, two = (codec.encode({"brokers": [node] * count}) for count in (1, 2))
    entry = one[5 : 5 + len(two) - len(one)]  # behind throttle time and count
    return 3, 9, one[:4] + uvarint(1 + times) + entry * times + one[5 + len(entry) :]


def tags_again_and_again(times: int, node: dict[str, Any] | None = None) -> tuple[int, int, bytes]:
    codec = specs.api("Fetch").response.codec(16)
    before = len(codec.encode({})) - 1  # up to the number of tags
    content = codec.encode({"node_endpoints": [node]})[before + 1 :] if node else b"\0\1\1"
    return 1, 16, codec.encode({})[:before] + uvarint(times) + content * times


@pytest.mark.parametrize("made", [brokers_again_and_again, tags_again_and_again])
def test_more_addresses_than_any_cluster_has_are_refused_before_they_take_memory(
    made: Callable[[int], tuple[int, int, bytes]],
) -> None:
    few, many = made(100), made(1 << 20)
    patch(*few, lambda kind, node, host, port: None)
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match="too large to decode"):
            patch(*many, lambda kind, node, host, port: None)
        assert tracemalloc.get_traced_memory()[1] < 2 * BUDGET
    finally:
        tracemalloc.stop()


def test_a_tag_that_stands_there_again_and_again_is_replaced_each_time() -> None:
    key, version, body = tags_again_and_again(50, {"node_id": 1, "host": "real", "port": 1})
    patched = patch(key, version, body, elsewhere)
    assert patched is not None
    assert b"real" not in patched.replace(b"proxy-of-real", b"")
    assert patched.count(b"proxy-of-real") == 50
    found = specs.api(key).response.codec(version).decode(patched)
    assert found["node_endpoints"][0]["host"] == "proxy-of-real"
