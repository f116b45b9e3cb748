"""What the dissector makes of a capture, by tshark, and what our codecs make of the same bodies."""

from __future__ import annotations

import itertools
import re
import shutil
import struct
import subprocess
import tempfile
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from barnabas.specs.jsonform import uuid_text
from barnabas.specs.layout import Layout, Node
from barnabas.specs.wireshark import script
from tests.captures.traffic import Said, ip_packet, segments, write_pcap

SEGMENT = 16_000
"""Bytes of a segment: large frames come in several, small ones together."""

OF_NUL = "Trailing stray characters"
"""What Wireshark itself remarks of a string with a NUL in it."""

Shown = tuple[str, str]
"""A field by its filter name, and its value: hexadecimal of text, bytes and float64, else as it is shown."""


class Dissected(NamedTuple):
    """A frame of Kafka's: its fields in order, and what is wrong; the same of what its bytes hide."""

    packet: int
    title: str
    fields: list[Shown]
    problems: list[str]
    inside: list[Shown]
    inside_problems: list[str]

    def body(self, message: str) -> list[Shown]:
        """The fields of the message of this name; what stands in front is the header's."""
        names = [name for name, _ in self.fields]
        return self.fields[names.index(message) + 1 :] if message in names else []


def capture_of(path: Path, *conversations: list[Said]) -> Path:
    """A capture with conversations, each from a client's port of its own to a broker's at 9092."""
    packets: list[bytes] = []
    for number, said in enumerate(conversations):
        ends = {"client": ("10.0.0.1", 20000 + number), "broker": ("10.0.0.2", 9092)}
        found = segments(said, itertools.repeat(SEGMENT), isn=1000, **ends)
        packets += map(ip_packet, found)
    return write_pcap(path, packets)


def tshark(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as lua:
        lua.write(script())
        lua.flush()
        command = [
            shutil.which("tshark") or "tshark",
            "-X",
            f"lua_script:{lua.name}",
            "-r",
            str(path),
        ]
        return subprocess.run(
            [*command, *arguments],
            capture_output=True,
            text=True,
            check=True,
            errors="replace",
            timeout=100,
        )


def dissected(path: Path, *arguments: str) -> list[Dissected]:
    run = tshark(path, "-J", "bkafka", "-T", "pdml", *arguments)
    assert "Lua" not in run.stderr, run.stderr
    # it is without words where packets are cut so short that Wireshark itself gives up
    assert re.findall(r"Lua Error: (?!\(null\)).*", run.stdout) == []
    # a place in the script stands in errors of Lua's, which say nothing of the data
    assert [line for line in run.stdout.splitlines() if ".lua:" in line] == []
    # what XML can't hold is in strings only, of which the bytes are compared
    root = ET.fromstring(
        re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", run.stdout)
    )
    found = []
    for packet in root.iter("packet"):
        number = 0
        for proto in packet.iter("proto"):
            if proto.get("name") == "geninfo":
                number = int(proto[0].get("show") or 0)
            elif proto.get("name") == "bkafka":
                found.append(_frame(number, proto))
    return found


def _frame(number: int, proto: ET.Element) -> Dissected:
    found = Dissected(number, proto.get("showname", ""), [], [], [], [])
    _walk(proto, found, found.fields, found.problems)
    return found


def _walk(element: ET.Element, found: Dissected, fields: list[Shown], problems: list[str]) -> None:
    for field in element:
        name, show = field.get("name", "").removeprefix("bkafka."), field.get("show", "")
        if name == "_ws.expert":
            said = (each for each in field if each.get("name") == "_ws.expert.message")
            problems += [text for each in said if (text := each.get("show", "")) != OF_NUL]
        elif field.get("hide") != "yes":
            fields.append((name, f"{show}\0{field.get('value', '')}"))
            if show == "" or name.endswith(".length") or name in ("unknown_tag", "unread"):
                _walk(field, found, fields, problems)
            else:
                _walk(field, found, found.inside, found.inside_problems)


def expected(layout: Layout, values: dict[str, Any], prefix: str) -> Iterator[Shown]:
    """The fields of a body that was decoded, in the order of its bytes."""
    for slot in layout.plain:
        yield from _field(slot.node, values[slot.name], f"{prefix}.{slot.name}", slot.name)
    for slot in layout.tagged:
        if values[slot.name] != slot.fresh_default():
            yield from _field(slot.node, values[slot.name], f"{prefix}.{slot.name}", slot.name)
    for tag, data in values.get("_tags", {}).items():
        yield "unknown_tag", str(tag)
        yield "unknown_tag.data", data.hex()


def _field(node: Node, value: Any, path: str, name: str) -> Iterator[Shown]:
    if value is None:
        yield "null", name
    elif node.element is not None:
        yield f"{path}.length", str(len(value))
        for item in value:
            yield from _field(node.element, item, path, name)
    elif node.struct is not None:
        yield path, ""
        yield from expected(node.struct, value, path)
    else:
        yield path, _shown(value)


def _shown(value: Any) -> str:
    match value:
        case bool():
            return str(int(value))
        case str():
            return value.encode().hex()
        case bytes():
            return value.hex()
        case uuid.UUID():
            return uuid_text(value)
        case float():
            return struct.pack(">d", value).hex()
    return str(value)


def alike(found: Iterable[Shown], wanted: Iterable[Shown]) -> list[str]:
    """The differences between fields as tshark shows them and as they should be."""
    differences = []
    for one, other in itertools.zip_longest(found, wanted, fillvalue=("", "")):
        show, _, raw = one[1].partition("\0")
        if one[0] != other[0] or other[1] not in (show, raw):
            differences.append(f"{one[0]} {show} {raw}, not {other[0]} {other[1]}")
    return differences
