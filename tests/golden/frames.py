"""What Apache Kafka's own classes wrote, line by line: frames, record sets, and malformed messages."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import re
import uuid
from typing import Any, Final

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.codec import Codec
from barnabas.specs.headers import REQUEST_HEADER, RESPONSE_HEADER
from barnabas.specs.layout import Layout, Node
from barnabas.specs.message import Message
from tests.places import GOLDEN

Line = dict[str, Any]

HEADERS: Final = {"RequestHeader": REQUEST_HEADER, "ResponseHeader": RESPONSE_HEADER}


@functools.cache
def golden_lines(name: str) -> list[Line]:
    """Return the lines of tests/golden/NAME.jsonl.gz: golden-a, records-a or malformed."""
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def golden_frames(*directions: str) -> list[Line]:
    """Return the frames of these directions: request, response, header or data; else both of APIs."""
    wanted = directions or ("request", "response")
    return [frame for frame in golden_lines("golden-a") if frame["direction"] in wanted]


BY_API: dict[str, list[Line]] = {}
"""Frames of requests, responses and headers by the name of their API."""
for _frame in golden_frames("request", "response", "header"):
    BY_API.setdefault(_frame["api"], []).append(_frame)


def golden_message(frame: Line) -> Message:
    if frame["api"] in HEADERS:
        return HEADERS[frame["api"]]
    if frame["direction"] == "data":
        return embedded.message(frame["api"])
    return specs.api(frame["api"]).message(frame["direction"])


def golden_codec(frame: Line) -> Codec:
    return golden_message(frame).codec(frame["version"])


def golden_values(frame: Line) -> dict[str, Any]:
    return golden_codec(frame).decode(bytes.fromhex(frame["hex"]))


def snake(name: str) -> str:
    """Return one of Kafka's names of fields as we write it."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def from_kafka_json(layout: Layout, form: dict[str, Any]) -> dict[str, Any]:
    """Return the values that a frame's JSON stands for, in our names and types."""
    given = {snake(name[0].upper() + name[1:]): value for name, value in form.items()}
    values = {}
    for slot in layout.slots:
        if slot.name in given:
            values[slot.name] = _value(slot.node, given[slot.name])
        else:
            assert slot.tag is not None, f"{slot.name} is missing from the JSON"
            values[slot.name] = slot.fresh_default()
    unknown = given.get("_unknown_tagged_fields")
    if unknown:
        values["_tags"] = {tag["tag"]: base64.b64decode(tag["data"]) for tag in unknown}
    assert not set(given) - {slot.name for slot in layout.slots} - {"_unknown_tagged_fields"}
    return values


def _value(node: Node, value: Any) -> Any:
    if value is None:
        return None
    match node.kind:
        case "array":
            assert node.element is not None
            return [_value(node.element, item) for item in value]
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


def record_sets() -> dict[str, bytes]:
    """Return the sets of records that Kafka's own classes wrote, by the name of their case."""
    return {line["case"]: bytes.fromhex(line["hex"]) for line in golden_lines("records-a")}
