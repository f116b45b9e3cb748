"""Frames of any draft: as written by hand, what is filled in, and every way in which a frame is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from barnabas import specs
from barnabas.specs.codec import Unfit
from barnabas.specs.dialect_frames import DialectFrame, decode_frame, encode_frame
from barnabas.specs.dialects import Dialect, DialectApi, dialect, dialects
from barnabas.specs.malformed import Malformed


class ByHand(NamedTuple):
    """A frame written by hand, with its size, and what is to be read from it."""

    spoken: Dialect
    frame: DialectFrame
    data: bytes

    def __str__(self) -> str:
        return f"{self.spoken.name}-{self.frame.api}-{self.frame.direction}"

    def decode(self, data: bytes) -> DialectFrame:
        """Read bytes, without a size, as such a frame."""
        api = self.frame.api if self.frame.direction == "response" else None
        return decode_frame(
            self.spoken, data, self.frame.direction, api=api, response=self.frame.response
        )


BY_HAND = [
    ByHand(
        dialect(name),
        DialectFrame(row["direction"], row["api"], row["header"], row["body"], row.get("response")),
        bytes.fromhex(row["bytes"]),
    )
    for name, rows in yaml.safe_load(
        Path(__file__).with_name("frames_by_hand.yaml").read_text()
    ).items()
    for row in rows
]


@pytest.mark.parametrize("one", BY_HAND, ids=str)
def test_frames_written_by_hand(one: ByHand) -> None:
    assert int.from_bytes(one.data[:4]) == len(one.data) - 4
    assert one.decode(one.data[4:]) == one.frame
    assert encode_frame(one.spoken, one.frame) == one.data
    for end in range(len(one.data) - 4):
        with pytest.raises(Malformed):
            one.decode(one.data[4:][:end])


def leaves(value: Any) -> list[Any]:
    """The values in wire order, without their names."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    return [len(value), *map(leaves, value)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    "one", [one for one in BY_HAND if one.spoken.name == "rewrite-0.8.2"], ids=str
)
def test_all_but_join_group_was_released_with_the_same_bytes(one: ByHand) -> None:
    api = one.spoken.api(one.frame.api)
    ours = api.request if one.frame.direction == "request" else api.responses[0]
    kafkas = specs.api(api.key).message(one.frame.direction).codec(api.version)
    body = ours.codec(api.version).encode(one.frame.body)
    if one.frame.api == "JoinGroup":
        with pytest.raises(Malformed):
            kafkas.decode(body)
        return
    values, oddities = kafkas.inspect(body)
    assert (leaves(values), oddities) == (leaves(one.frame.body), [])


def test_every_documented_layout_has_a_frame_written_by_hand() -> None:
    by_hand = {(one.spoken.name, one.frame.api, one.frame.direction) for one in BY_HAND}
    documented = {
        (item.name, api.name, direction)
        for item in dialects()
        for api in item.apis
        for direction in ("request", "response")
        if not api.is_reconstructed(direction)
    }
    assert documented <= by_hand


APIS = [
    pytest.param(item, api, id=f"{item.name}-{api.name}")
    for item in dialects()
    for api in item.apis
]


@pytest.mark.parametrize(("item", "api"), APIS)
def test_the_header_is_completed_from_the_api(item: Dialect, api: DialectApi) -> None:
    data = encode_frame(item, DialectFrame("request", api.name, {}, {}))[4:]
    frame = decode_frame(item, data, "request")
    assert frame.api == api.name
    assert frame.header[item.key_field] == api.key
    assert item.version_field is None or frame.header[item.version_field] == api.version
    for response in api.responses:
        several = response.name if api.other_responses else None
        empty = DialectFrame("response", api.name, {}, {}, several)
        answer = encode_frame(item, empty)[4:]
        read = decode_frame(item, answer, "response", api=api.key, response=several)
        assert (read.api, read.response) == (api.name, several)
        assert read.body == response.codec(api.version).layout.defaults()


def test_a_response_needs_the_api_that_it_answers() -> None:
    with pytest.raises(TypeError, match="does not name its API"):
        decode_frame(dialect("rewrite-a"), bytes(12), "response")


def test_one_of_several_responses_has_to_be_named() -> None:
    central = dialect("central-coordination")
    with pytest.raises(
        TypeError, match="name one of StopFetcherResponse, StopFetcherResponseWithout"
    ):
        decode_frame(central, bytes(2), "response", api="StopFetcher")
    with pytest.raises(TypeError, match="several responses"):
        encode_frame(central, DialectFrame("response", "StopFetcher", {}, {}))
    with pytest.raises(LookupError, match="StopFetcher has no response 'Stopped'"):
        decode_frame(central, bytes(2), "response", api="StopFetcher", response="Stopped")


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("rewrite-a", "0063 0000 0000000000000001", "no API of rewrite-a has key 99"),
        ("rewrite-a", "ffff 0000 0000000000000001", "no API of rewrite-a has key -1"),
        ("rewrite-b", "000b 0001 0000000000000001", "JoinGroupRequest has versions 0 to 0, not 1"),
        (
            "rewrite-0.8.2",
            "0008 0000 00000001 0000",
            "OffsetCommitRequest has versions 1 to 1, not 0",
        ),
        ("central-coordination", "0001", "no API of central-coordination has key 1"),
    ],
)
def test_what_the_draft_does_not_have_is_a_lookup_error(name: str, data: str, problem: str) -> None:
    with pytest.raises(LookupError, match=problem):
        decode_frame(dialect(name), bytes.fromhex(data), "request")


@pytest.mark.parametrize(
    ("header", "body", "path"),
    [
        ({"correlation_id": 1 << 63}, {}, "correlation_id"),
        ({"client_id": "me"}, {}, "client_id"),
        ({}, {"generation": 40000}, "generation"),
        ({}, {"offsets": [{"offset": "first"}]}, "offsets[0].offset"),
    ],
)
def test_values_that_do_not_fit_are_named(
    header: dict[str, Any], body: dict[str, Any], path: str
) -> None:
    with pytest.raises(Unfit) as caught:
        encode_frame(dialect("rewrite-a"), DialectFrame("request", "OffsetCommit", header, body))
    assert caught.value.path == path


def test_bytes_that_are_no_text_do_not_move_the_body() -> None:
    data = bytes.fromhex("000c 0000 00000007 0002 ff61  0001 67 00000003 0001 63")
    frame = decode_frame(dialect("rewrite-0.8.2"), data, "request")
    assert frame.header["client_id"] == "\ufffda"
    assert frame.body == {"group_id": "g", "group_generation_id": 3, "consumer_id": "c"}
