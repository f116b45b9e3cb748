from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from barnabas.specs import NAMES, api
from barnabas.specs.codec import Codec, TooLarge
from barnabas.specs.codec.budget import BUDGET, FREE, TAG, WALK, WIDE, cost, element_cost
from barnabas.specs.codec.codegen import CHARS, size_of
from barnabas.specs.dialects import dialects
from barnabas.specs.dialects.keys import own_key
from barnabas.specs.embedded import REGISTRY, message
from barnabas.specs.layout import Layout, Node
from barnabas.specs.message import Message
from tests.bodies import reassignments

CODEC = api("AlterPartitionReassignments").request.codec(0)

READERS: dict[str, Callable[[bytes], Any]] = {
    "decode": CODEC.decode,
    "project": CODEC.project("topics.name", "topics.partitions"),
    "inspect": CODEC.inspect,
    "regular": CODEC.regular,
}


def peak(read: Callable[[bytes], Any], body: bytes) -> int:
    """Bytes that were in use at most while a body was read."""
    tracemalloc.start()
    try:
        read(body)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("how", READERS)
def test_a_body_of_very_many_elements_is_refused_before_anything_is_made_of_it(how: str) -> None:
    body = reassignments(3_000_000)

    def refused(body: bytes) -> None:
        with pytest.raises(TooLarge, match="too large to decode"):
            READERS[how](body)

    assert peak(refused, body) < 1 << 20


def test_odd_bytes_are_bounded_as_regular_ones_are() -> None:
    with pytest.raises(TooLarge):
        CODEC.decode(reassignments(3_000_000, behind=b"\0\0"))


@pytest.mark.parametrize("how", ["decode", "inspect"])
def test_elements_take_no_more_than_they_are_charged(how: str) -> None:
    assert (
        peak(READERS[how], reassignments(5_000)) <= 5_000 * element_cost(_topics(), None) + 50_000
    )


def test_the_budget_is_a_limit_for_what_is_charged() -> None:
    most = BUDGET // element_cost(_topics(), None)
    assert len(CODEC.decode(reassignments(most))["topics"]) == most
    with pytest.raises(TooLarge):
        CODEC.decode(reassignments(most + 1))


def _topics() -> Node:
    slot = next(slot for slot in CODEC.layout.slots if slot.name == "topics")
    assert slot.node.element is not None
    return slot.node.element


def repeated(codec: Codec, array: str, element: Any, count: int) -> bytes:
    """A body that ends with an array of the same element so many times, in the classic encoding."""
    once, twice = codec.encode({array: [element]}), codec.encode({array: [element] * 2})
    bare = codec.encode({array: []})
    return bare[:-4] + count.to_bytes(4) + twice[len(once) :] * count


@pytest.mark.slow("bytes by the million")
@pytest.mark.parametrize(
    ("name", "version", "array", "element", "count"),
    [
        ("DescribeGroups", 0, "groups", "é" * 16_000, BUDGET // 120_000),
        ("DescribeLogDirs", 0, "topics", {"topic": "a", "partitions": [1] * 20}, BUDGET // 1200),
        ("DescribeLogDirs", 0, "topics", {"topic": "a", "partitions": [1] * 200}, BUDGET // 8000),
        ("Fetch", 4, "topics", {"topic": "a", "partitions": [{}] * 1000}, BUDGET // 300_000),
        ("Fetch", 4, "topics", {"topic": "a"}, BUDGET // 300),
    ],
)
def test_text_and_numbers_and_what_is_nested_are_charged(
    name: str, version: int, array: str, element: Any, count: int
) -> None:
    codec = api(name).request.codec(version)
    body = repeated(codec, array, element, count)
    for read in (codec.decode, codec.inspect):
        with pytest.raises(TooLarge):
            read(body)


def test_bytes_are_charged() -> None:
    codec = api("SaslAuthenticate").request.codec(0)
    body = codec.encode({"auth_bytes": bytes(BUDGET + 1)})
    for read in (codec.decode, codec.inspect):
        with pytest.raises(TooLarge):
            read(body)


def test_fields_beside_what_is_too_large_are_read() -> None:
    records = [{"index": 0, "records": bytes(BUDGET)}]
    codec = api("Produce").request.codec(9)
    body = codec.encode({"acks": 1, "topic_data": [{"name": "a", "partition_data": records}]})
    found = codec.project("acks", "topic_data.name")(body)
    assert found == {"acks": 1, "topic_data": [{"name": "a"}]}


def test_elements_that_are_only_passed_over_are_charged_for_their_time() -> None:
    codec = api("DescribeGroups").response.codec(0)
    body = repeated(codec, "groups", {"members": [{}] * 1000}, BUDGET // (1000 * WALK) + 1)
    with pytest.raises(TooLarge):
        codec.project("groups.error_code")(body)


def test_addresses_are_not_looked_for_in_what_is_too_large() -> None:
    codec = api("UpdateMetadata").request.codec(0)
    body = repeated(codec, "live_brokers", {"v0_host": "a"}, BUDGET // 300)
    with pytest.raises(TooLarge):
        codec.locate("live_brokers.id", "live_brokers.v0_host", "live_brokers.v0_port")(body)


def test_a_length_below_zero_is_no_credit() -> None:
    codec = api("Fetch").request.codec(4)
    null = b"\0\1a" + b"\x80\0\0\0"  # a topic whose partitions are null, with an odd length
    bare = codec.encode({"topics": []})
    body = bare[:-4] + (2_000_000).to_bytes(4) + null * 2_000_000
    with pytest.raises(TooLarge):
        codec.project("topics.topic")(body)


def test_no_body_that_is_free_can_take_more_than_the_budget() -> None:
    """The most that a byte can cost, over all layouts: so small bodies need no accounts."""
    worst = max(_ratio(codec.layout) for codec in _codecs())
    assert FREE * max(worst, WIDE) <= BUDGET


def _codecs() -> Iterator[Codec]:
    own = [own_key(dialect, one) for dialect in dialects() for one in dialect.apis]
    messages: list[Message] = [message(name) for name, _ in REGISTRY]
    for key in (*NAMES, *own):
        messages += [api(key).request, api(key).response]
    for one in messages:
        oldest, newest = one.versions
        yield from (one.codec(version) for version in range(oldest, newest + 1))


def _ratio(layout: Layout) -> float:
    """Bytes of memory for a byte that is read, at most."""
    found = [TAG / 2]
    for slot in layout.slots:
        node = slot.node
        if node.element is not None:
            found.append(element_cost(node.element, None) / _least(node.element))
        if slot.tag is not None:
            found.append((TAG + cost(node)) / (2 + _least(node)))
        inner = node.element or node
        if inner.struct is not None:
            found.append(_ratio(inner.struct))
    return max(found)


def _least(node: Node) -> int:
    """The fewest bytes that a value can have."""
    if node.kind in CHARS:
        return size_of(CHARS[node.kind])
    if node.kind == "struct":
        assert node.struct is not None
        own = sum(_least(slot.node) for slot in node.struct.plain) + node.struct.flexible
        return max(own + node.nullable, 1)
    return 1 if node.compact else size_of(CHARS[node.length_kind])
