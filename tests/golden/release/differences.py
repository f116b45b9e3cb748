"""What a release of Kafka has otherwise than we declare it, field by field. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from barnabas.specs import api, embedded
from barnabas.specs.declaration import FOREVER
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.headers import (
    REQUEST_HEADER,
    RESPONSE_HEADER,
    request_header_version,
    response_header_version,
)
from barnabas.specs.jsonform import to_json
from barnabas.specs.layout import Layout, Slot, resolve
from barnabas.specs.message import Message
from barnabas.specs.registry import NAMES
from barnabas.specs.releases import RELEASES, offered
from tests.golden.release.kafka import Release

HEADERS: Final = {"RequestHeader": REQUEST_HEADER, "ResponseHeader": RESPONSE_HEADER}

BROKERS: Final = {"BROKER", "ZK_BROKER"}
"""The listeners whose APIs a broker offers its clients."""

NOTHING: Final = Message().of("", (0, -1), FOREVER)
"""What is declared of a message that is new."""


class Difference(NamedTuple):
    """One thing that differs: where it is, in which versions (all: empty), and what."""

    where: str
    versions: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}{' v' if self.versions else ''}{self.versions}: {self.what}"


SIZED: Final = ("array", "string", "bytes", "records")
"""What has a length in front, which is compact in flexible versions."""

Facts = dict[str, Any]
"""What is known of a field: name, kind, nullable, compact, tag, default, and the fields inside it."""


def differences(release: Release) -> list[Difference]:
    """All that differs between a release and the declarations of it."""
    return [
        *_errors(release),
        *_ranges(release),
        *(one for name in release.schemas for one in _message(release, name)),
    ]


def newer(version: str) -> bool:
    """Whether nothing declared is newer than a release: then all of it must be in there.

    >>> newer("99.0.0"), newer("2.8.0")
    (True, False)
    """
    return _numbers(version)[:2] >= _numbers(RELEASES[-1])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("-")[0].split("."))


def _errors(release: Release) -> Iterator[Difference]:
    ours = {error.code: error[1:] for error in ERROR_CODES}
    theirs = {code: (name, retriable) for code, name, retriable in release.errors}
    for code in sorted(ours.keys() | theirs.keys()):
        where, told = f"error {code}", theirs.get(code)
        if code not in ours:
            yield Difference(where, "", f"is not declared {told}")
        elif told is not None:
            for fact, one, other in zip(("name", "retriable"), told, ours[code], strict=True):
                yield from (Difference(where, "", what) for _, what in _same("", fact, one, other))
        elif newer(release.version):  # in an older one it is yet to come
            yield Difference(where, "", f"is declared as {ours[code][0]}, and not there")


def _ranges(release: Release) -> Iterator[Difference]:
    """The versions that there are, those that a broker offers, and those that are unstable."""
    try:
        known = offered(release.version)
    except LookupError:
        yield Difference(
            "release", "", "specs/releases.py does not know it; compared with the newest"
        )
        known = offered(RELEASES[-1])
    theirs = {one["key"]: one for one in release.apis if one["newest"] >= one["oldest"] >= 0}
    for key in sorted(theirs.keys() | NAMES.keys()):
        where = f"API {key} {theirs[key]['name'] if key in theirs else NAMES[key]}"
        offers = None
        if (one := theirs.get(key)) is not None:
            newest, unstable = one["newest"], one["stable"] < one["newest"]
            if BROKERS & set(one["listeners"]) and one["stable"] >= one["oldest"]:
                offers = one["said_oldest"], one["stable"]
            if key not in NAMES:
                yield Difference(where, _text(range(one["oldest"], newest + 1)), "is not declared")
                continue
            if NAMES[key] != one["name"]:
                yield Difference(where, "", f"is declared as {NAMES[key]}")
            yield from _newest(where, newest, unstable, key, newer(release.version))
            yield from _header_versions(where, one, key)
        if offers != known.get(key):
            said = (
                f"a broker offers {_range(offers)}, in specs/releases.py {_range(known.get(key))}"
            )
            yield Difference(where, "", said)


def _newest(
    where: str, newest: int, unstable: bool, key: int, nothing_newer: bool
) -> Iterator[Difference]:
    declared = api(key)
    last = declared.versions[1]
    if newest > last:
        yield Difference(where, _text(range(last + 1, newest + 1)), "is not declared")
    if not nothing_newer:
        return
    if newest < last:
        yield Difference(where, _text(range(newest + 1, last + 1)), "is declared, and not there")
    if unstable != (declared.stable < last) and newest == last:
        said = "unstable, declared as stable" if unstable else "stable, declared as unstable"
        yield Difference(where, str(newest), f"is {said}")


def _header_versions(where: str, one: dict[str, Any], key: int) -> Iterator[Difference]:
    ways = {"request": request_header_version, "response": response_header_version}
    for direction, way in ways.items():
        for version, theirs in enumerate(one[f"{direction}_headers"], one["oldest"]):
            if version <= api(key).versions[1] and theirs != way(key, version):
                said = f"{direction} header is v{theirs}, declared v{way(key, version)}"
                yield Difference(where, str(version), said)


def _range(versions: tuple[int, int] | None) -> str:
    return "nothing" if versions is None else f"{versions[0]}-{versions[1]}"


def _message(release: Release, name: str) -> list[Difference]:
    definition, schemas = release.definitions[name], release.schemas[name]
    message = declared(definition)
    if message is None:
        return [Difference(name, "", "is not declared")]
    return compare(name, schemas, message, release.version)


def declared(definition: dict[str, Any]) -> Message | None:
    """The declaration of a message of Kafka's; without any fields for an API that is new."""
    match definition["type"]:
        case "request" | "response" as direction:
            key = definition["apiKey"]
            return api(key).message(direction) if key in NAMES else NOTHING
        case "header":
            return HEADERS.get(definition["name"])
    try:
        return embedded.message(definition["name"])
    except LookupError:
        return None


def compare(name: str, schemas: dict[str, Any], message: Message, release: str) -> list[Difference]:
    """The differences between all versions of one message and its declaration."""
    found: dict[tuple[str, str], list[int]] = {}
    for number, schema in schemas["versions"].items():
        flexible = int(number) >= message.flexible
        layout = resolve(message.fields, int(number), release, flexible=flexible)
        theirs, ours = _theirs(schema, schemas["defaults"]), _ours(layout)
        for path, what in [
            *_same("", "flexible", schema["flexible"], layout.flexible),
            *_fields(theirs, ours),
        ]:
            found.setdefault((f"{name} {path}".rstrip(), what), []).append(int(number))
    return [Difference(where, _text(versions), what) for (where, what), versions in found.items()]


def _fields(theirs: list[Facts], ours: list[Facts], path: str = "") -> Iterator[tuple[str, str]]:
    """Path and difference of the fields of a structure and of those inside them."""
    names = [field["name"] for field in theirs]
    left = {field["name"]: field for field in ours}
    matched = []
    for place, field in enumerate(theirs):
        where = path + field["name"]
        other = left.pop(field["name"], None)
        if other is None and place < len(ours) and _renamed(field, ours[place], names):
            other = left.pop(ours[place]["name"], None)
        if other is None:
            known = {fact: value for fact, value in field.items() if value is not UNKNOWN}
            facts = [f"{fact} {known[fact]!r}" for fact in ("tag", "default") if known.get(fact)]
            nullable = ["nullable"] if known.get("nullable") else []
            told = ", ".join([field["kind"], *nullable, *facts])
            yield where, f"is not declared ({told})"
        else:
            matched.append(other["name"])
            for fact in ("name", "kind", "nullable", "compact", "tag", "default"):
                if fact == "default" and field[fact] is None and not other["nullable"]:
                    continue  # a class has one for all versions, null where only some know null
                yield from _same(where, fact, field[fact], other[fact])
        yield from _fields(field["fields"], other["fields"] if other else [], where + ".")
    for name in left:
        yield path + name, "is declared, and not there"
    if matched != [field["name"] for field in ours if field["name"] in matched]:
        yield path.rstrip("."), "has its fields in another order"


def _renamed(field: Facts, other: Facts, names: list[str]) -> bool:
    """Whether a field has only another name than the one that is declared in its place."""
    return other["name"] not in names and all(other[of] == field[of] for of in ("kind", "tag"))


def _same(where: str, fact: str, theirs: Any, ours: Any) -> Iterator[tuple[str, str]]:
    if theirs != ours and theirs is not UNKNOWN:
        yield where, f"{fact} is {theirs!r}, declared {ours!r}"


UNKNOWN: Final = object()
"""Stands for what the classes do not say."""


def _theirs(schema: dict[str, Any], defaults: dict[str, Any], path: str = "") -> list[Facts]:
    found = []
    for field in schema["fields"]:
        where = path + field["name"]
        item = field.get("element", field)
        facts = {
            "name": field["name"],
            "kind": f"[]{item['kind']}" if "element" in field else item["kind"],
            "nullable": UNKNOWN if field["nullable"] is None else field["nullable"],
            "compact": field.get("compact", False),
            "tag": field.get("tag"),
            "default": defaults.get(where, UNKNOWN),
            "fields": _theirs(item, defaults, where + ".") if "fields" in item else [],
        }
        found.append(facts)
    return found


def _ours(layout: Layout) -> list[Facts]:
    found = []
    for slot in (*layout.plain, *layout.tagged):
        item = slot.node.element or slot.node
        facts = {
            "name": slot.name,
            "kind": f"[]{item.kind}" if slot.node.element else item.kind,
            "nullable": slot.node.nullable,
            "compact": slot.node.compact and slot.node.kind in SIZED,
            "tag": slot.tag,
            "default": _default(slot),
            "fields": [] if item.struct is None else _ours(item.struct),
        }
        found.append(facts)
    return found


def _default(slot: Slot) -> Any:
    if slot.node.kind == "struct" and slot.default is not None:
        return {}
    return to_json(slot.default)


def _text(versions: Any) -> str:
    """Versions in their order, those in a row as a range.

    >>> _text([0, 1, 2, 5])
    '0-2, 5'
    """
    rows: list[list[int]] = []
    for version in versions:
        if rows and rows[-1][-1] == version - 1:
            rows[-1].append(version)
        else:
            rows.append([version])
    return ", ".join(str(row[0]) if len(row) == 1 else f"{row[0]}-{row[-1]}" for row in rows)
