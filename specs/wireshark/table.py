"""The layouts of all messages as tables in Lua, each structure once.

A structure is a text of its slots: `+` first if it is flexible, then `NAME:TYPE` of each slot, preceded by
`TAG=` if it has a tag. A type is that of the declaration; `[..]` is an array, `{N}` the structure with number
N. A following `?` means that it may be null, a preceding `~` that it keeps the classic encoding.

A message is `HEADER:STRUCTURE` for each of its versions: the version of its header, and a structure's number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from barnabas.specs.embedded.bytes_fields import BYTES_FIELDS
from barnabas.specs.embedded.control_records import VALUES
from barnabas.specs.embedded.members import PROTOCOLS
from barnabas.specs.embedded.registry import COORDINATORS, METADATA_RECORDS
from barnabas.specs.embedded.registry import REGISTRY as INSIDE
from barnabas.specs.embedded.registry import message as inside
from barnabas.specs.entities import NAMES as ENTITY_KINDS
from barnabas.specs.entities import entity_paths
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.headers import (
    REQUEST_HEADER,
    RESPONSE_HEADER,
    header_version,
)
from barnabas.specs.layout import Layout, Node
from barnabas.specs.message import Message
from barnabas.specs.records.control import CONTROL_TYPES
from barnabas.specs.registry import REGISTRY, api


class Structures:
    """The texts of structures, numbered in order of appearance."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def number(self, layout: Layout) -> int:
        """Return the number of a structure, a new one if no equal structure exists."""
        slots = (
            f"{_tag(slot.tag)}{slot.name}:{self._type(slot.node, layout)}" for slot in layout.slots
        )
        text = ("+" if layout.flexible else "") + " ".join(slots)
        return self.texts.setdefault(text, len(self.texts) + 1)

    def _type(self, node: Node, around: Layout) -> str:
        kind = node.kind
        if node.element is not None:
            kind = f"[{self._type(node.element, around)}]"
        elif node.struct is not None:
            kind = f"{{{self.number(node.struct)}}}"
        classic = "~" if around.flexible and not node.compact else ""
        return f"{classic}{kind}{'?' if node.nullable else ''}"

    def versions(self, message: Message, headers: Iterable[int | str]) -> str:
        """Return the versions of a message as a text."""
        first, last = message.versions
        return " ".join(
            f"{header}:{self.number(message.layout(version))}"
            for version, header in zip(range(first, last + 1), headers, strict=True)
        )


def _tag(tag: int | None) -> str:
    return "" if tag is None else f"{tag}="


def table() -> str:
    """Return the tables: error codes, structures, messages, and the roles and contents of their fields."""
    structures = Structures()
    headers = [
        f"{direction} = {_quoted(structures.versions(header, [''] * _count(header)))}"
        for direction, header in (("request", REQUEST_HEADER), ("response", RESPONSE_HEADER))
    ]
    apis = list(_apis(structures))
    messages = [
        f"{name} = {{{_quoted(f'{snake(name)}.')}, {inside(name).versions[0]}, "
        f"{_quoted(structures.versions(inside(name), [''] * _count(inside(name))))}}}"
        for name, _ in INSIDE
    ]
    return "\n".join(
        (
            _lua("ERRORS", (f"[{e.code}] = {_quoted(e.name)}" for e in ERROR_CODES)),
            _lua("API_NAMES", (f"[{key}] = {_quoted(name)}" for key, name, _ in REGISTRY)),
            _lua("STRUCTURES", map(_quoted, structures.texts)),
            _lua("HEADERS", headers),
            _lua("APIS", apis),
            _lua("INSIDE", messages),
            _lua("ENTITIES", _entities()),
            _lua("PLACES", _bytes_fields()),
            _lua("SAYS", (f"{name} = true" for name in _deciding())),
            _lua("PROTOCOLS", _protocols()),
            _lua(
                "CONTROL_TYPES",
                (f"[{n}] = {_quoted(name)}" for n, name in enumerate(CONTROL_TYPES)),
            ),
            _lua("CONTROL_VALUES", (f"{kind} = {_quoted(name)}" for kind, name in VALUES.items())),
            _lua("TOPICS", _topics()),
            _lua("METADATA_RECORDS", _numbered(METADATA_RECORDS)),
        )
    )


def _lua(name: str, lines: Iterable[str]) -> str:
    return f"local {name} = {{\n" + "".join(f"  {line},\n" for line in lines) + "}\n"


def _quoted(text: str) -> str:
    """Quote a text of letters, digits and punctuation; names and layouts have no other characters."""
    return f'"{text}"'


def snake(name: str) -> str:
    """Return a name of Kafka's in snake case, as field names are written.

    >>> snake("EndTxnMarker"), snake("KRaftVersionRecord")
    ('end_txn_marker', 'kraft_version_record')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.replace("KRaft", "Kraft")).lower()


def _count(message: Message) -> int:
    return message.versions[1] - message.versions[0] + 1


def _apis(structures: Structures) -> Iterator[str]:
    """Yield a line for each API: the prefix of its fields' names, its first version, both directions."""
    for key, _, module in REGISTRY:
        declared = api(key)
        first, last = declared.versions
        directions = (
            structures.versions(
                declared.message(direction),
                [header_version(direction, key, version) for version in range(first, last + 1)],
            )
            for direction in DIRECTIONS
        )
        texts = ", ".join(map(_quoted, (module, *directions)))
        yield f"[{key}] = {{{texts}, first = {first}}}"


def _entities() -> Iterator[str]:
    """Return a line for each field that names a topic, a group or a transactional id, in any version."""
    entities: dict[str, str] = {}
    for key, name, _ in REGISTRY:
        first, last = api(key).versions
        for direction in DIRECTIONS:
            for entity in ENTITY_KINDS:
                for version in range(first, last + 1):
                    for path in entity_paths(entity, key, direction, version):
                        entities[f"{name}{direction.capitalize()} {'.'.join(path)}"] = entity
    return (
        f"[{_quoted(field_path)}] = {_quoted(entity)}" for field_path, entity in entities.items()
    )


def _bytes_fields() -> Iterator[str]:
    for field in BYTES_FIELDS:
        yield f'["{field.message} {field.path}"] = {{"{field.kind}", "{field.named_by}"}}'


def _deciding() -> list[str]:
    """Return the fields that determine the contents of bytes fields."""
    named = {field.named_by for field in BYTES_FIELDS if field.named_by}
    return sorted(named | {"protocol_type", "topic_id"})


def _protocols() -> Iterator[str]:
    for protocol, parts in PROTOCOLS.items():
        names = ", ".join(f"{part} = {_quoted(name)}" for part, name in parts.items())
        yield f"{protocol} = {{{names}}}"


def _topics() -> Iterator[str]:
    for topic, types in COORDINATORS.items():
        yield f"{topic} = {{{', '.join(_numbered(types))}}}"


def _numbered(names: dict[int, str]) -> Iterator[str]:
    return (f"[{number}] = {_quoted(name)}" for number, name in names.items())
