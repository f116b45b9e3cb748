"""Arrays of fixed-size elements of any length, with whatever stands behind them."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs.codec import Malformed, Unfit
from barnabas.specs.codec.careful_encoder import encode_carefully
from barnabas.specs.codec.codegen import FEW
from barnabas.specs.declaration import FOREVER, Array, Int16, Int32, String
from barnabas.specs.message import Message

LENGTHS = (0, 1, 2, 3, 4, FEW - 2, FEW - 1, FEW, FEW + 1, 126, 127, 128, 129, 300, 20_000)

COMPACT = specs.api("Metadata").response, 12
CLASSIC = specs.api("Metadata").response, 8


def partition(replicas: int, isr: int) -> dict[str, Any]:
    return {
        "error_code": -1,
        "partition_index": 7,
        "leader_id": 2,
        "leader_epoch": 9,
        "replica_nodes": list(range(-1, replicas - 1)),
        "isr_nodes": list(range(isr)),
        "offline_replicas": [5],
    }


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("message", "version"), [COMPACT, CLASSIC], ids=["compact", "classic"])
def test_arrays_of_any_length(message: specs.Message, version: int, length: int) -> None:
    codec = message.codec(version)
    partitions = [partition(length, 1), partition(3, length), partition(length, 0)]
    body = codec.encode({"topics": [{"name": "t", "partitions": partitions}]})
    assert body == message.at(version).build(codec._decode(body))
    found = codec._decode(body)["topics"][0]["partitions"]
    assert found == partitions
    assert message.at(version).parse(body)["topics"][0]["partitions"] == partitions


@pytest.mark.parametrize(("message", "version"), [COMPACT, CLASSIC], ids=["compact", "classic"])
@pytest.mark.parametrize("length", [0, 3, 5, FEW + 5])
def test_an_array_that_is_cut_off(message: specs.Message, version: int, length: int) -> None:
    codec = message.codec(version)
    partitions = [partition(length, length)]
    body = codec.encode({"topics": [{"name": "t", "partitions": partitions}]})
    for size in range(len(body)):
        with pytest.raises(Malformed):
            codec.decode(body[:size])


@pytest.mark.parametrize("count", [-1, -2, -(2**31), 2**31 - 1, 1000])
def test_a_classic_count_that_is_wrong(count: int) -> None:
    codec = specs.api("Fetch").request.codec(7)
    forgotten = [{"topic": "t", "partitions": [1, 2]}]
    body = codec.encode({"topics": [], "forgotten_topics_data": forgotten})
    assert body.count(struct.pack(">iii", 2, 1, 2)) == 1
    with pytest.raises(Malformed) as caught:
        codec.decode(body.replace(struct.pack(">iii", 2, 1, 2), struct.pack(">iii", count, 1, 2)))
    assert caught.value.path == "forgotten_topics_data[0].partitions"


@pytest.mark.parametrize(
    "length", [b"\x00", b"\x7f", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\x0f"]
)
def test_a_compact_length_that_is_wrong(length: bytes) -> None:
    codec = specs.api("Fetch").request.codec(12)
    forgotten = [{"topic": "t", "partitions": [1, 2]}]
    body = codec.encode({"topics": [], "forgotten_topics_data": forgotten})
    right = b"\x03" + struct.pack(">ii", 1, 2)
    assert body.count(right) == 1
    with pytest.raises(Malformed) as caught:
        codec.decode(body.replace(right, length + right[1:]))
    assert caught.value.path == "forgotten_topics_data[0].partitions"


SHORT = Message(
    "numbers" / Array(Int32).counted(Int16),
    "names"   / Array("name" / String).counted(Int16),
).of("Short", (0, 0), FOREVER)  # fmt: skip


@pytest.mark.parametrize("length", [0, 1, 3, FEW, 300])
def test_arrays_counted_by_an_int16(length: int) -> None:
    values = {"numbers": list(range(length)), "names": [{"name": "n"}] * length}
    codec, reference = SHORT.codec(0), SHORT.at(0)
    body = codec.encode(values)
    assert body[:2] == struct.pack(">h", length)
    assert len(body) == 4 + 7 * length
    assert codec._decode(body) == values == codec.inspect(body)[0] == reference.parse(body)
    assert reference.build(values) == body == encode_carefully(codec.layout, values)


def test_more_than_an_int16_can_count_do_not_fit() -> None:
    with pytest.raises(Unfit, match="numbers: 32768 elements; int16 can't count them"):
        SHORT.codec(0).encode({"numbers": [0] * 32768})
