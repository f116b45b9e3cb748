"""What runs in a JVM's process: `python -m tests.golden.release.java JAVA CLASSPATH`.

Reads questions as JSON, a line each, and answers each with a line. The names are those of the package
org.apache.kafka.common; its generated classes are asked by reflection.
"""

from __future__ import annotations

import json
import os
import re
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import jpype

from barnabas.peers.apache.java import library

NAMES = {"boolean": "bool", "unsigned_int32": "uint32"}
"""Kafka's name of a type -> ours, where they differ."""


def protocol() -> dict[str, Any]:
    """The APIs with the versions that a broker says it has, and the errors."""
    common = jpype.JPackage("org.apache.kafka.common")
    apis = [
        {
            "key": int(one.apiKey()),
            "name": str(common.protocol.ApiKeys.forId(int(one.apiKey())).name),
            "listeners": sorted(str(listener) for listener in one.listeners()),
            "oldest": int(one.lowestSupportedVersion()),
            "newest": last(one, True),
            "stable": last(one, False),
            "said_oldest": said_oldest(common.protocol.ApiKeys.forId(int(one.apiKey()))),
            "request_headers": headers(one, one.requestHeaderVersion),
            "response_headers": headers(one, one.responseHeaderVersion),
        }
        for one in common.message.ApiMessageType.values()
    ]
    retriable = common.errors.RetriableException
    errors = [
        [int(one.code()), str(one.name()), isinstance(one.exception(), retriable)]
        for one in common.protocol.Errors.values()
    ]
    return {"apis": apis, "errors": errors}


def headers(one: Any, of: Any) -> list[int]:
    """The header's version of each version of an ApiMessageType."""
    return [
        int(of(jpype.JShort(version)))
        for version in range(one.lowestSupportedVersion(), last(one, True) + 1)
    ]


def last(one: Any, unstable: bool) -> int:
    """The newest version of an ApiMessageType; none was unstable before 3.4."""
    try:
        return int(one.highestSupportedVersion(unstable))
    except TypeError:
        return int(one.highestSupportedVersion())


def said_oldest(key: Any) -> int:
    """The oldest version that ApiVersions says of an API: Produce's is another one (KAFKA-18659)."""
    try:
        listener = jpype.JClass("org.apache.kafka.common.message.ApiMessageType$ListenerType")
        said = key.toApiVersionForApiResponse(False, listener.BROKER)
    except AttributeError:
        return int(key.oldestVersion())
    return int(said.get().minVersion()) if said.isPresent() else int(key.oldestVersion())


def schemas(of: str) -> dict[str, Any]:
    """The schema of each version that a message's class has, and the defaults of its fields."""
    message = generated(of)
    low, high = (int(getattr(message, f"{end}_SUPPORTED_VERSION")) for end in ("LOWEST", "HIGHEST"))
    versions = {version: structure(message.SCHEMAS[version]) for version in range(low, high + 1)}
    return {"versions": versions, "defaults": dict(defaults(message.class_, ""))}


def generated(of: str) -> Any:
    return jpype.JClass(f"org.apache.kafka.common.message.{of}")


def structure(schema: Any) -> dict[str, Any]:
    """The fields of a schema in their order, those with a tag behind the others."""
    section = jpype.JClass("org.apache.kafka.common.protocol.types.TaggedFields")
    known = section.class_.getDeclaredField("fields")
    known.setAccessible(True)  # its getter came with 4.1
    fields: list[dict[str, Any]] = []
    flexible = False
    for bound in schema.fields():
        item = bound.def_
        if isinstance(item.type, section):
            flexible = True
            tagged = {int(tag): field for tag, field in known.get(item.type).items()}
            fields += [named(tagged[tag]) | {"tag": tag} for tag in sorted(tagged)]
        else:
            fields.append(named(item))
    return {"fields": fields, "flexible": flexible}


def named(field: Any) -> dict[str, Any]:
    return {"name": str(field.name), **node(field.type)}


def node(of: Any) -> dict[str, Any]:
    """One type; `nullable` is None where the classes do not say: of records, of old structures."""
    types = jpype.JPackage("org.apache.kafka.common.protocol.types")
    nullable: bool | None = bool(of.isNullable())
    if isinstance(of, types.Schema):
        marked = getattr(types, "NullableSchema", None)
        known = isinstance(marked, jpype.JClass)
        return {"kind": "struct", "nullable": nullable if known else None, **structure(of)}
    if isinstance(of, (types.ArrayOf, types.CompactArrayOf)):
        element = of.arrayElementType().get()
        compact = isinstance(of, types.CompactArrayOf)
        return {"kind": "array", "nullable": nullable, "compact": compact, "element": node(element)}
    words = str(of.typeName()).lower()
    kind = words.removeprefix("compact_").removeprefix("nullable_")
    if kind == "records":
        nullable = None
    compact = words.startswith("compact_")
    return {"kind": NAMES.get(kind, kind), "nullable": nullable, "compact": compact}


def defaults(of: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Path and default of all fields of a class and of those inside it, as JSON; not of records."""
    made = of.getConstructor().newInstance()
    for field in of.getDeclaredFields():
        name = str(field.getName())
        if name.startswith("_") or "static" in str(field.toGenericString()).split():
            continue
        getter = of.getMethod(name)
        where = path + snake(name)
        value = getter.invoke(made)
        kind = str(getter.getGenericReturnType().getTypeName())
        if not kind.endswith("Records"):
            yield where, plain(value)
        inner = re.search(r"(org\.apache\.kafka\.common\.message\.[\w$]+?)(Collection)?>?$", kind)
        if inner is not None:
            yield from defaults(jpype.JClass(inner[1]).class_, where + ".")


def snake(name: str) -> str:
    """A field's name in a schema: made of the name in the definition, which begins with a capital."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name[0].upper() + name[1:]).lower()


def plain(value: Any) -> Any:
    """A default as JSON: an array is empty, a structure an empty object, a uuid its text."""
    lang = jpype.java.lang
    if value is None:
        return None
    if isinstance(value, lang.Boolean):
        return bool(value)
    if isinstance(value, (lang.Float, lang.Double)):
        return float(value)
    if isinstance(value, lang.Number):
        return int(value)
    if isinstance(value, (lang.String, str)) or "Uuid" in str(value.getClass().getName()):
        return str(value)
    if isinstance(value, jpype.java.util.Collection):
        return []
    return {} if ".message." in str(value.getClass().getName()) else ""


def frame(of: str, version: int, values: dict[str, Any]) -> dict[str, Any]:
    """A message of these values: its bytes, and what Kafka's own converter says of what it reads there."""
    common = jpype.JPackage("org.apache.kafka.common")
    mapper = jpype.JClass("com.fasterxml.jackson.databind.ObjectMapper")()
    converter = generated(f"{of}JsonConverter")
    number = jpype.JShort(version)
    message = converter.read(mapper.readTree(json.dumps(values)), number)
    add_unknown(message, values)
    cache = common.protocol.ObjectSerializationCache()
    buffer = jpype.java.nio.ByteBuffer.allocate(message.size(cache, number))
    message.write(common.protocol.ByteBufferAccessor(buffer), cache, number)
    buffer.flip()
    read = generated(of)()
    read.read(common.protocol.ByteBufferAccessor(buffer), number)
    if not read.equals(message) or buffer.remaining():
        raise ValueError(f"{of} v{version} does not read what it wrote")
    said = json.loads(str(converter.write(read, number).toString()))
    return {"hex": bytes(buffer.array()).hex(), "json": said}


def add_unknown(message: Any, values: dict[str, Any]) -> None:
    """Tagged fields that nobody knows, which the converters leave out."""
    raw = jpype.JClass("org.apache.kafka.common.protocol.types.RawTaggedField")
    for name, value in values.items():
        if name == "_unknownTaggedFields":
            for one in value:
                data = jpype.JArray(jpype.JByte)(b64decode(one["data"]))
                message.unknownTaggedFields().add(raw(one["tag"], data))
        elif isinstance(value, dict):
            add_unknown(getter(message, name), value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for inner, item in zip(getter(message, name), value, strict=True):
                add_unknown(inner, item)


def getter(message: Any, name: str) -> Any:
    return message.getClass().getMethod(name).invoke(message)


DO: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    "protocol": protocol,
    "schemas": schemas,
    "frame": frame,
}


def main(program: str, classes: str) -> None:
    """Answer questions until there are no more."""
    answers = os.fdopen(os.dup(1), "w")  # whatever Java prints must not stand between the answers
    os.dup2(2, 1)
    jpype.startJVM(library(Path(program)), "-Xmx256m", classpath=classes.split(os.pathsep))
    for line in sys.stdin:
        what, *about = json.loads(line)
        try:
            answer = DO[what](*about)
        except jpype.JException as problem:
            raise SystemExit(f"{what} {about[:2]}: {problem}") from None
        answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
