"""What decoding may take: in proportion to the bytes, and never more than the budget."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from barnabas.specs import NAMES, api
from barnabas.specs.codec import Codec, Malformed, TooLarge, careful_decoder, decoder_source
from barnabas.specs.codec.budget import BUDGET, FREE, TAG, WALK, WIDE, cost, element_cost
from barnabas.specs.codec.codegen import CHARS, size_of
from barnabas.specs.declaration import Array, Bytes, Field, Int32, String, Type, Uuid
from barnabas.specs.dialects import dialects
from barnabas.specs.dialects.keys import own_key
from barnabas.specs.embedded import REGISTRY, message
from barnabas.specs.layout import ZEROS, Layout, Node
from barnabas.specs.message import Message
from tests.bodies import reassignments
from tests.specs.codec.every_kind import VERSIONS, codec_of

CODEC = api("AlterPartitionReassignments").request.codec(0)
READERS: dict[str, Callable[[bytes], Any]] = {
    "decode": CODEC.decode,
    "project": CODEC.project("topics.name", "topics.partitions"),
    "inspect": CODEC.inspect,
    "regular": CODEC.regular,
}
TOPICS = next(slot.node.element for slot in CODEC.layout.slots if slot.name == "topics")
assert TOPICS is not None
TOPIC_COST = element_cost(TOPICS, None)


def peak(read: Callable[[bytes], Any], body: bytes) -> int:
    """Return the bytes that were in use at most while a body was read, or refused."""
    tracemalloc.start()
    try:
        read(body)
    except Malformed:
        pass
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most


@pytest.mark.parametrize("how", READERS)
def test_a_body_of_very_many_elements_is_refused_before_anything_is_made_of_it(how: str) -> None:
    body = reassignments(3_000_000)
    with pytest.raises(
        TooLarge, match="too large to decode: it would take more than 64 MiB of memory"
    ) as caught:
        READERS[how](body)
    assert (caught.value.path, caught.value.offset) == ("", 0)
    assert peak(READERS[how], body) < 1 << 20
    with pytest.raises(TooLarge):
        READERS["decode"](reassignments(3_000_000, behind=b"\0\0"))  # odd bytes


@pytest.mark.parametrize("how", ["decode", "inspect"])
def test_elements_take_no_more_than_they_are_charged(how: str) -> None:
    assert peak(READERS[how], reassignments(5_000)) <= 5_000 * TOPIC_COST + 50_000


LITTLE = 8 << 20
"""A budget that is used up sooner; bodies are larger than FREE."""


def repeated(codec: Codec, array: str, element: Any, count: int) -> bytes:
    """Return a body that ends with an array of an element so many times, in the classic encoding."""
    once, twice = codec.encode({array: [element]}), codec.encode({array: [element] * 2})
    bare = codec.encode({array: []})
    return bare[:-4] + count.to_bytes(4) + twice[len(once) :] * count


@pytest.mark.parametrize(
    ("fields", "element", "each"),
    [
        (("x" / Array(String),), "abc", 16 + 64 + 3 * WIDE),
        (("x" / Array("a" / Uuid, "b" / Int32),), {"a": ZEROS["uuid"], "b": 1}, 16 + 16 + 184 + 160 + 32),
        (("x" / Array("a" / Int32, "y" / Array(Int32)),), {"a": 1, "y": [1] * 60},
         16 + 16 + 184 + 32 + 72 + 60 * (16 + 32)),
        *((("x" / Array(*(f"f{number}" / Int32 for number in range(fields))),),
           {f"f{number}": 1 for number in range(fields)}, 16 + 16 + table + 32 * fields)
          for fields, table in ((4, 184), (9, 272), (10, 800))),
    ],
)  # fmt: skip
def test_the_budget_is_a_limit_for_what_is_charged(
    fields: tuple[Field, ...], element: Any, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dict is charged by its number of fields, text by its width, and all that is in an element."""
    for module in decoder_source, careful_decoder:
        monkeypatch.setattr(module, "BUDGET", LITTLE)
    codec = codec_of(0, fields)
    most = LITTLE // each
    assert len(codec.decode(repeated(codec, "x", element, most))["x"]) == most
    body = repeated(codec, "x", element, most + 1)
    for read in (codec.decode, codec.inspect, codec.project("x")):
        with pytest.raises(TooLarge):
            read(body)


def test_bytes_and_tags_that_nobody_knows_are_charged() -> None:
    codec = api("SaslAuthenticate").request.codec(0)
    large = codec.encode({"auth_bytes": bytes(BUDGET + 1)})
    tagged = codec_of(1, ("x" / Int32,))
    count = BUDGET // TAG + 1
    many = bytes(4) + uvarint(count) + b"\x07\0" * count
    wide = bytes(4) + b"\1\x07" + uvarint(BUDGET) + bytes(BUDGET)
    for reader, body in ((codec, large), (tagged, many), (tagged, wide)):
        for read in (reader.decode, reader.inspect):
            with pytest.raises(TooLarge):
                read(body)


def uvarint(value: int) -> bytes:
    return bytes([value & 127 | 128, *uvarint(value >> 7)]) if value > 127 else bytes([value])


def test_fields_beside_what_is_too_large_are_read() -> None:
    records = [{"index": 0, "records": bytes(BUDGET)}]
    codec = api("Produce").request.codec(9)
    body = codec.encode({"acks": 1, "topic_data": [{"name": "a", "partition_data": records}]})
    found = codec.project("acks", "topic_data.name")(body)
    assert found == {"acks": 1, "topic_data": [{"name": "a"}]}


def test_elements_that_are_only_passed_over_are_charged_for_their_time() -> None:
    codec = api("DescribeGroups").response.codec(0)
    count = BUDGET // (1000 * WALK) + 1
    with pytest.raises(TooLarge):
        codec.project("groups.error_code")(
            repeated(codec, "groups", {"members": [{}] * 1000}, count)
        )


def test_a_length_below_zero_is_no_credit() -> None:
    codec = api("Fetch").request.codec(4)
    null = b"\0\1a" + b"\x80\0\0\0"  # a topic whose partitions are null, with an odd length
    bare = codec.encode({"topics": []})
    with pytest.raises(TooLarge):
        codec.project("topics.topic")(bare[:-4] + (2_000_000).to_bytes(4) + null * 2_000_000)


def messages() -> Iterator[Message]:
    own = [own_key(dialect, one) for dialect in dialects() for one in dialect.apis]
    for key in (*NAMES, *own):
        yield from (api(key).request, api(key).response)
    yield from (message(name) for name, _ in REGISTRY)


def test_no_body_that_is_free_can_take_more_than_the_budget() -> None:
    """The most that a byte can cost, over all layouts: so small bodies need no accounts."""
    layouts = [
        one.layout(v) for one in messages() for v in range(one.versions[0], one.versions[1] + 1)
    ]
    assert FREE * max(WIDE, *map(ratio, layouts)) <= BUDGET


def ratio(layout: Layout) -> float:
    """Return the bytes of memory for a byte that is read, at most. Each element takes a byte at least."""
    found = [TAG / 2]
    for slot in layout.slots:
        node = slot.node
        if node.element is not None:
            found.append(element_cost(node.element, None) / least(node.element))
        if slot.tag is not None:
            found.append((TAG + cost(node)) / (2 + least(node)))
        inner = node.element or node
        if inner.struct is not None:
            found.append(ratio(inner.struct))
    return max(found)


def least(node: Node) -> int:
    if node.kind in CHARS:
        return size_of(CHARS[node.kind])
    if node.struct is not None:
        if node.nullable:
            return 1
        return sum(least(slot.node) for slot in node.struct.plain) + node.struct.flexible
    return 1 if node.compact else size_of(CHARS[node.length_kind])


def shortest(node: Node) -> Any:
    if node.nullable:
        return None
    if node.struct is not None:
        return {slot.name: shortest(slot.node) for slot in node.struct.plain}
    return [] if node.element is not None else ZEROS.get(node.kind, 0)


@pytest.mark.slow("tracemalloc traces every message")
@pytest.mark.parametrize("name", NAMES.values())
@pytest.mark.parametrize("direction", ["request", "response"])
def test_memory_is_a_constant_times_the_bytes(name: str, direction: str) -> None:
    """An array at the top of a message with as many elements as it can hold: two bytes may be a dict."""
    one = api(name).message(direction)
    codec = one.codec(one.versions[1])
    values = {slot.name: shortest(slot.node) for slot in codec.layout.plain}
    codec.decode(codec.encode({}))  # made before anything is measured
    for slot in codec.layout.plain:
        if slot.node.element is not None:
            body = codec.encode(values | {slot.name: [shortest(slot.node.element)] * 400})
            for broken in (body, body + b"\0"):  # the fast way, and the careful one
                assert peak(codec.decode, broken) < 256 * len(body)


@pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS)
@pytest.mark.parametrize("element", [Int32, String])
def test_more_elements_than_bytes_are_malformed_and_allocate_nothing(
    version: int, element: Type
) -> None:
    codec = codec_of(version, ("pad" / Bytes, "x" / Array(element).nullable()))
    count, empty = (b"\x80\x80\x80\x80\x08", 2) if version else (b"\x7f\xff\xff\xff", 4)
    body = codec.encode({"pad": bytes(FREE), "x": []})[:-empty] + count + bytes(8)
    for read in (codec.decode, codec.project("x")):
        with pytest.raises(Malformed, match="2147483647 elements announced, 8 bytes remain"):
            read(body)
        assert peak(read, body) < 8 * FREE


def test_addresses_are_not_looked_for_in_what_is_too_large() -> None:
    codec = api("UpdateMetadata").request.codec(0)
    locate = codec.locate("live_brokers.id", "live_brokers.v0_host", "live_brokers.v0_port")
    with pytest.raises(TooLarge):
        locate(repeated(codec, "live_brokers", {"v0_host": "a"}, BUDGET // 300))
