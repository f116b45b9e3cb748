"""Every declaration against Kafka's definitions, field by field, and the tables of record types."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from barnabas.specs import embedded
from barnabas.specs.codec.careful_encoder import encode_carefully
from barnabas.specs.declaration import FOREVER
from barnabas.specs.embedded.registry import COORDINATORS, METADATA_RECORDS
from tests.golden.definitions import DEFINITIONS, versions
from tests.golden.frames import Line, from_kafka_json, golden_codec, golden_frames, golden_message
from tests.places import GOLDEN
from tests.specs.test_declarations import from_declaration, from_definition
from tests.specs.test_variants import MESSAGES

with gzip.open(GOLDEN / "definitions-inside.json.gz") as file:
    ENTRIES = json.load(file)

INSIDE = {name: entry["def"] for name, entry in ENTRIES.items()}

DEFINED: dict[str, Any] = INSIDE | {
    name: entry["defs"][-1]["def"] for name, entry in MESSAGES.items() if entry["type"] == "data"
}

BY_HAND = {
    "AssignmentInfo",
    "ConnectProtocolAssignment",
    "ConnectProtocolSubscription",
    "CooperativeStickyAssignorUserData",
    "StickyAssignorUserData",
}
"""Written by Java classes, not from definitions: the bytes in inside.jsonl prove them."""


def test_every_definition_is_declared_and_nothing_else() -> None:
    names = [name for name, _ in embedded.REGISTRY]
    assert len(names) == len(set(names))
    assert set(names) == set(DEFINED) | BY_HAND


@pytest.mark.parametrize("name", DEFINED)
def test_every_field_is_as_kafka_defines_it(name: str) -> None:
    message, definition = embedded.message(name), DEFINED[name]
    assert message.name == name
    assert message.versions == versions(definition["validVersions"])
    flexible = versions(definition["flexibleVersions"])
    assert message.flexible == (flexible[0] if flexible else FOREVER)
    valid = message.versions
    commons = {c["name"]: c["fields"] for c in definition.get("commonStructs") or []}
    theirs = from_definition(definition["fields"], commons, valid)
    fields = from_declaration(message.fields, valid)
    assert fields == theirs
    assert list(fields) == list(theirs)  # wire order matters as much


@pytest.mark.parametrize(
    ("topic", "jar"),
    [
        ("__consumer_offsets", "kafka-group-coordinator"),
        ("__transaction_state", "kafka-transaction-coordinator"),
        ("__share_group_state", "kafka-share-coordinator"),
    ],
)
def test_every_type_of_a_coordinators_records_is_named(topic: str, jar: str) -> None:
    for part in ("Key", "Value"):
        defined = {
            entry["def"]["apiKey"]: name.removesuffix(part)
            for name, entry in ENTRIES.items()
            if entry["jar"] == jar and entry["def"]["type"] == f"coordinator-{part.lower()}"
        }
        assert COORDINATORS[topic] == defined
    assert len(COORDINATORS) == 3


def test_every_type_of_the_metadata_log_is_named() -> None:
    defined = {d["apiKey"]: name for name, d in INSIDE.items() if d["type"] == "metadata"}
    assert defined == METADATA_RECORDS


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(LookupError, match="did you mean 'GroupMetadataValue'"):
        embedded.message("GroupMetaDataValue")


FRAMES: dict[tuple[str, int], list[Line]] = {}


for _frame in golden_frames("data"):
    FRAMES.setdefault((_frame["api"], _frame["version"]), []).append(_frame)


def test_the_frames_cover_every_version_of_every_message_in_kafka_clients() -> None:
    names = {name for name, one in DEFINITIONS["messages"].items() if one["type"] == "data"}
    declared = {(n, v) for n in names for v in range(embedded.message(n).versions[1] + 1)}
    assert declared == FRAMES.keys()


@pytest.mark.parametrize(("name", "version"), sorted(FRAMES))
def test_all_ways_of_reading_and_writing_agree(name: str, version: int) -> None:
    for frame in FRAMES[name, version]:
        body, codec = bytes.fromhex(frame["hex"]), golden_codec(frame)
        reference = golden_message(frame).at(version)
        expected = from_kafka_json(codec.layout, frame["json"])
        assert repr(codec.decode(body)) == repr(expected), frame["case"]
        assert reference.parse(body) == expected, frame["case"]
        assert codec.encode(expected) == reference.build(expected) == body, frame["case"]
        assert encode_carefully(codec.layout, expected) == body, frame["case"]
        found = embedded.read_versioned(name, version.to_bytes(2) + body)
        assert found == embedded.EmbeddedMessage(name, version, expected), frame["case"]
