"""Every frame that Kafka's own classes wrote: reference, codec and careful reader agree with it."""

from __future__ import annotations

import base64
import gzip
import json
import re
import uuid
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs.codec.careful_encoder import encode_carefully
from barnabas.specs.headers import REQUEST_HEADER, RESPONSE_HEADER
from barnabas.specs.layout import Layout, Node
from barnabas.specs.message import Message
from tests import places
from tests.golden.definitions import ANEW

GOLDEN = places.GOLDEN / "golden-a.jsonl.gz"
HEADERS = {"RequestHeader": REQUEST_HEADER, "ResponseHeader": RESPONSE_HEADER}


def frames() -> list[dict[str, Any]]:
    with gzip.open(GOLDEN, "rt") as lines:
        return [frame for frame in map(json.loads, lines) if frame["direction"] != "data"]


def by_api() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for frame in frames():
        found.setdefault(frame["api"], []).append(frame)
    return found


BY_API = by_api()


def message_of(frame: dict[str, Any]) -> Message:
    if frame["direction"] == "header":
        return HEADERS[frame["api"]]
    return specs.api(frame["key"]).message(frame["direction"])


def snake(name: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def from_kafka_json(layout: Layout, json: dict[str, Any]) -> dict[str, Any]:
    """The values that a frame's JSON stands for, in our names and types."""
    given = {snake(name[0].upper() + name[1:]): value for name, value in json.items()}
    values = {}
    for slot in layout.slots:
        if slot.name in given:
            values[slot.name] = value_of(slot.node, given[slot.name])
        else:
            assert slot.tag is not None, f"{slot.name} is missing from the JSON"
            values[slot.name] = slot.fresh_default()
    unknown = given.get("_unknown_tagged_fields")
    if unknown:
        values["_tags"] = {tag["tag"]: base64.b64decode(tag["data"]) for tag in unknown}
    extra = set(given) - {slot.name for slot in layout.slots} - {"_unknown_tagged_fields"}
    assert not extra
    return values


def value_of(node: Node, value: Any) -> Any:
    if value is None:
        return None
    match node.kind:
        case "array":
            assert node.element is not None
            return [value_of(node.element, item) for item in value]
        case "struct":
            assert node.struct is not None
            return from_kafka_json(node.struct, value)
        case "bytes" | "records":
            return base64.b64decode(value)
        case "uuid":
            return uuid.UUID(bytes=base64.urlsafe_b64decode(value + "=="))
        case "float64":
            return float(value)
    return value


def test_the_frames_cover_every_api_and_version() -> None:
    seen = {(f["key"], f["direction"], f["version"]) for f in frames() if f["key"] >= 0}
    declared = {
        (key, direction, version)
        for key, _, _ in specs.REGISTRY
        for direction in ("request", "response")
        for version in range(specs.api(key).versions[1] + 1)
    }
    assert seen == declared, ANEW


@pytest.mark.parametrize("api", BY_API)
def test_reference_codec_and_json_agree(api: str) -> None:
    for frame in BY_API[api]:
        body = bytes.fromhex(frame["hex"])
        message, version = message_of(frame), frame["version"]
        where = f"{api} {frame['direction']} v{version} {frame['case']}"
        codec = message.codec(version)
        expected = from_kafka_json(codec.layout, frame["json"])
        # repr tells -0.0 from 0.0 and 1 from True
        assert repr(codec.decode(body)) == repr(expected), where
        assert message.at(version).parse(body) == expected, where
        assert codec.encode(expected) == body, where
        assert message.at(version).build(expected) == body, where


@pytest.mark.parametrize("api", BY_API)
def test_the_fast_and_the_careful_way_agree_and_find_nothing_odd(api: str) -> None:
    for frame in BY_API[api]:
        body = bytes.fromhex(frame["hex"])
        codec = message_of(frame).codec(frame["version"])
        values, oddities = codec.inspect(body)
        assert oddities == [], (api, frame["version"], frame["case"])
        assert repr(codec._decode(body)) == repr(values)  # the fast one, by itself
        assert encode_carefully(codec.layout, values) == body
        if "_tags" not in repr(values):
            assert codec._encode(values) == body
