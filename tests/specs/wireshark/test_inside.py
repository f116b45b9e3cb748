"""What hides in bytes that real brokers wrote and real clients sent: tshark shows each field of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs import embedded, records
from barnabas.specs.embedded import EmbeddedMessage
from barnabas.specs.frames import Frame, encode_frame
from barnabas.specs.wireshark.table import snake
from tests.captures.traffic import Said
from tests.specs.embedded.real import BATCHES, FRAMES, Line, batches
from tests.specs.embedded.test_reveal import body_of, revealed
from tests.specs.wireshark.dissected import Dissected, Shown, alike, capture_of, dissected, expected

pytestmark = pytest.mark.needs_tshark


def said(line: Line) -> Said:
    head = {"correlation_id": line["key"]}
    whole = Frame(line["direction"], line["key"], line["version"], head, body_of(line))
    return line["direction"], encode_frame(whole)


def messages_in(found: Mapping[str, Any]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """What was found, as it stands in the bytes: of a member its metadata come first."""
    for _, each in sorted(found.items(), key=lambda one: one[0].replace("_metadata", "")):
        if "message" in each:  # else it is text
            yield each["message"], each["version"], each["values"]
        yield from messages_in(each.get("inside", {}))


def wrong_in(found: Dissected, messages: Iterable[tuple[str, int, dict[str, Any]]]) -> list[str]:
    """The differences, a message's name after the other; nulls are not told apart by their names."""
    wanted: dict[str, list[Shown]] = {}
    for name, version, values in messages:
        layout = embedded.message(name).layout(version)
        fields = expected(layout, values, snake(name))
        wanted.setdefault(snake(name), []).extend(one for one in fields if one[0] != "null")
    assert wanted
    return [
        difference
        for prefix, fields in wanted.items()
        for difference in alike(
            (one for one in found.inside if one[0].startswith(f"{prefix}.")),
            (one for one in fields if one[0].startswith(f"{prefix}.")),
        )
    ]


def test_what_members_of_groups_tell_each_other(tmp_path: Path) -> None:
    groups = [list(lines) for _, lines in itertools.groupby(FRAMES, key=lambda one: one["group"])]
    talks: list[list[Said]] = []
    for lines in groups:
        talk: list[Said] = []
        for line in lines:
            if line["direction"] == "response" and lines[0] is line:
                asked = Frame("request", line["key"], line["version"], {"correlation_id": 15}, {})
                talk.append(("request", encode_frame(asked)))
            talk.append(said(line))
        talks.append(talk)
    shown = dissected(capture_of(tmp_path / "a.pcap", *talks), "-2")
    of_lines = [one for one in shown if "DescribeGroups v5 request" not in one.title]
    wrong = [
        difference
        for line, found in zip(FRAMES, of_lines, strict=True)
        for difference in wrong_in(found, messages_in(revealed(line))) + found.inside_problems
    ]
    assert not wrong, "\n".join(wrong)


def messages_of(topic: str, data: bytes) -> Iterator[tuple[str, int, dict[str, Any]]]:
    for batch in records.read(data):
        for record in batch:
            parts: list[EmbeddedMessage | None]
            if batch.is_control:
                parts = [embedded.read_control_record(record.key, record.value).value]
            else:
                parts = list(embedded.read_topic_record(topic, record.key, record.value))
            yield from ((one.name, one.version, one.values) for one in parts if one is not None)


@pytest.mark.parametrize("topic", sorted({line["topic"] for line in BATCHES}))
def test_records_of_internal_topics(tmp_path: Path, topic: str) -> None:
    data = batches(topic)
    partitions = [{"partition_index": 0, "records": data}]
    body = {"responses": [{"topic": topic, "partitions": partitions}]}
    head = {"correlation_id": 1}
    talk: list[Said] = [
        ("request", encode_frame(Frame("request", 1, 11, head, {}))),
        ("response", encode_frame(Frame("response", 1, 11, head, body))),
    ]
    _, found = dissected(capture_of(tmp_path / "a.pcap", talk))
    assert not wrong_in(found, messages_of(topic, data))
    assert not found.inside_problems


def test_a_request_in_an_envelope_and_its_response(tmp_path: Path) -> None:
    inner = encode_frame(Frame("request", 3, 1, {"correlation_id": 5, "client_id": "c"}, {}))[4:]
    answer = encode_frame(Frame("response", 3, 1, {"correlation_id": 5}, {"controller_id": 7}))[4:]
    head = {"correlation_id": 1}
    principal = specs.embedded.message("DefaultPrincipalData").codec(0)
    body = {
        "request_data": inner,
        "request_principal": b"\0\0" + principal.encode({"type": "User", "name": "ann"}),
        "client_host_address": bytes((10, 0, 0, 7)),
    }
    talk: list[Said] = [
        ("request", encode_frame(Frame("request", 58, 0, head, body))),
        ("response", encode_frame(Frame("response", 58, 0, head, {"response_data": answer}))),
    ]
    asked, answered = dissected(capture_of(tmp_path / "a.pcap", talk), "-2")
    inside = {name: value.partition("\0")[0] for name, value in asked.inside}
    assert (inside["client_id"], inside["metadata_request.topics.length"]) == ("c", "0")
    assert inside["default_principal_data.name"] == "ann"
    inside = {name: value.partition("\0")[0] for name, value in answered.inside}
    assert inside["metadata_response.controller_id"] == "7"
    assert not asked.inside_problems + answered.inside_problems
