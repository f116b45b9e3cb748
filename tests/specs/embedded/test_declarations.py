"""Every declaration against Kafka's definitions, field by field, and the tables of record types."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from barnabas.specs import embedded
from barnabas.specs.declaration import FOREVER
from barnabas.specs.embedded.registry import COORDINATORS, METADATA_RECORDS
from tests.golden.definitions import versions
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
