"""The own definitions of each release since 2.3 against the one declaration: the same bytes."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.declaration import FOREVER
from barnabas.specs.headers import REQUEST_HEADER, RESPONSE_HEADER
from barnabas.specs.layout import Layout
from barnabas.specs.message import Message
from tests.golden.definitions import DEFINITIONS, versions
from tests.specs.test_declarations import ALWAYS, both

MESSAGES = DEFINITIONS["messages"]

Wire = list[Any]
"""What stands on the wire, in order: (type, nullable, what is inside), then (tag, type, inside)."""

NOT_ON_THE_WIRE = {
    ("RequestHeader", 0): "2.3's definition names a client id in v0; that release's code wrote none"
}

HEADERS = {"RequestHeader": REQUEST_HEADER, "ResponseHeader": RESPONSE_HEADER}


def declared(name: str) -> Message | None:
    if name in HEADERS:
        return HEADERS[name]
    for direction in ("Request", "Response"):
        if name.endswith(direction) and (api := RENAMED.get(name.removesuffix(direction))):
            return specs.api(api).message(direction.lower())
    return embedded.message(name) if MESSAGES[name]["type"] == "data" else None


RENAMED = {name: name for _, name, _ in specs.REGISTRY} | {
    "AlterIsr": "AlterPartition",
    "ListClientMetricsResources": "ListConfigResources",
}
"""Name in a release -> name in ours."""


def ours(layout: Layout) -> tuple[Wire, dict[int, Any]]:
    plain: Wire = []
    tags: dict[int, Any] = {}
    for slot in layout.slots:
        item = slot.node.element or slot.node
        kind = f"[]{item.kind}" if slot.node.element else item.kind
        inside = None if item.struct is None else ours(item.struct)
        entry = (kind.replace("records", "bytes"), slot.node.nullable, inside)
        if slot.tag is None:
            plain.append(entry)
        else:
            tags[slot.tag] = entry
    return plain, tags


def theirs(fields: list[Any], commons: dict[str, Any], version: int) -> tuple[Wire, dict[int, Any]]:
    plain: Wire = []
    tags: dict[int, Any] = {}
    for field in fields:
        present = versions(field.get("versions") or field["taggedVersions"])
        if present is None or not present[0] <= version <= present[1]:
            continue
        kind = field["type"]
        inner = field.get("fields") or commons.get(kind.removeprefix("[]"))
        inside = None if inner is None else theirs(inner, commons, version)
        if inner is not None:
            kind = "[]struct" if kind.startswith("[]") else "struct"
        nulls = both(versions(field.get("nullableVersions")), ALWAYS)
        nullable = nulls is not None and nulls[0] <= version <= nulls[1]
        entry = (kind.replace("records", "bytes"), nullable, inside)
        tagged = versions(field.get("taggedVersions"))
        if tagged is not None and tagged[0] <= version <= tagged[1]:
            tags[int(field["tag"])] = entry
        else:
            plain.append(entry)
    return plain, tags


def reads(new: tuple[Wire, dict[int, Any]], old: tuple[Wire, dict[int, Any]]) -> bool:
    """Whether the one layout reads all that was written in the other: null may be allowed by now
    (but for a structure, whose marker takes a byte), and tags may have been added."""
    return (
        len(new[0]) == len(old[0])
        and all(map(fits, new[0], old[0]))
        and all(tag in new[1] and fits(new[1][tag], entry) for tag, entry in old[1].items())
    )


def fits(new: Any, old: Any) -> bool:
    if new[0] != old[0] or (old[1] and not new[1]):
        return False
    if new[0] == "struct" and new[1] != old[1]:
        return False
    return new[2] is None if old[2] is None else new[2] is not None and reads(new[2], old[2])


@pytest.mark.parametrize("name", [name for name in MESSAGES if declared(name) is not None])
def test_every_release_has_these_bytes(name: str) -> None:
    message = declared(name)
    assert message is not None
    for entry in MESSAGES[name]["defs"]:
        definition = entry["def"]
        commons = {c["name"]: c["fields"] for c in definition.get("commonStructs") or []}
        valid = versions(definition["validVersions"])
        flexible = versions(definition.get("flexibleVersions")) or (FOREVER, FOREVER)
        if valid is None:  # an API that this release has no more
            continue
        for version in range(valid[0], valid[1] + 1):
            if (name, version) in NOT_ON_THE_WIRE and entry["to"].startswith("2.3"):
                continue
            for release in (entry["from"], entry["to"]):
                layout = message.layout(version, release)
                wire = theirs(definition["fields"], commons, version)
                assert reads(ours(layout), wire), (version, release)
                assert layout.flexible == (version >= flexible[0]), (version, release)


@pytest.mark.parametrize(
    ("name", "version", "release", "last"),
    [
        ("EndQuorumEpochRequest", 0, "2.7.2", "2.7"),
        ("ConsumerGroupHeartbeatRequest", 0, "3.6.2", "3.6"),
        ("ConsumerGroupHeartbeatResponse", 0, "3.5.2", "3.6"),
        ("ConsumerGroupDescribeResponse", 0, "3.7.2", "3.7"),
        ("ReadShareGroupStateSummaryResponse", 0, "4.0.2", "4.0"),
        ("OffsetCommitRequest", 0, "0.8.2-beta", "0.8.2-beta"),
    ],
)
def test_a_release_of_its_own_layout(name: str, version: int, release: str, last: str) -> None:
    message = declared(name)
    assert message is not None
    old, new = message.codec(version, release), message.codec(version)
    assert old.layout == message.layout(version, last)
    assert ours(old.layout) != ours(new.layout)
    assert message.codec(version, DEFINITIONS["releases"][-1]) is new
    values = old.layout.defaults()
    assert old.decode(old.encode(values)) == message.at(version, release).parse(old.encode(values))


def test_the_beta_of_0_8_2_has_a_timestamp_in_offset_commit() -> None:
    request = specs.api("OffsetCommit").request
    partition = {"partition_index": 1, "committed_offset": 2, "committed_metadata": ""}
    values = {"group_id": "g", "topics": [{"name": "t", "partitions": [partition]}]}
    final, beta = (request.codec(0, release).encode(values) for release in ("0.8.2", "0.8.2-beta"))
    assert beta == final[:-2] + b"\xff" * 8 + final[-2:]
    assert request.codec(0, "0.8.1").encode(values) == final


def test_what_is_no_release() -> None:
    with pytest.raises(ValueError, match=r"'newest' is not a release of Kafka, such as 3\.6\.2"):
        specs.api("Fetch").request.layout(0, "newest")
