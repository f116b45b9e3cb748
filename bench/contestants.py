"""The codecs that are compared: each decodes and encodes one body; and what it needs to do so."""

from __future__ import annotations

import dataclasses
import importlib
import io
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import Enum
from typing import Any, Final

from barnabas import specs
from barnabas.specs.frames import Direction


@dataclasses.dataclass(frozen=True, slots=True)
class Contestant:
    """One codec for one version of one message."""

    name: str
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]
    """Of what `decode` returned."""


@dataclasses.dataclass(frozen=True, slots=True)
class Absent:
    """One that can't take part, and why."""

    name: str
    reason: str


Entry = Contestant | Absent


MODULES: Final = {
    "Metadata": ("metadata", "metadata"),
    "Fetch": ("consumer", "fetch"),
    "Produce": ("producer", "produce"),
    "FindCoordinator": ("metadata", "coordination"),
    "OffsetCommit": ("consumer", "commit"),
    "JoinGroup": ("consumer", "group"),
}
"""Where kafka-python and aiokafka have an API."""


def contestants(api: str, direction: Direction, version: int) -> list[Entry]:
    """All codecs for one version of one message; ours is the first."""
    message = specs.api(api).message(direction)
    codec = message.codec(version)
    entries: list[Entry] = [Contestant("barnabas", codec.decode, codec.encode)]
    for name, make in (("kafka-python", _kafka_python), ("kio", _kio), ("aiokafka", _aiokafka)):
        try:
            entries.append(make(name, api, direction, version))
        except ImportError:
            entries.append(Absent(name, "not installed (extra: bench)"))
        except LookupError as problem:
            entries.append(Absent(name, str(problem)))
    reference = message.at(version)
    entries.append(Contestant("construct", reference.parse, reference.build))
    # construct compiles the classes it knows, and links to `_parse` of those it does not
    try:
        compiled = reference.compile()
    except Exception as problem:  # noqa: BLE001 - construct raises whatever it ran into
        entries.append(Absent("construct, compiled", " ".join(str(problem).split())))
    else:
        entries.append(Contestant("construct, compiled", compiled.parse, compiled.build))
    return entries


def _kafka_python(name: str, api: str, direction: Direction, version: int) -> Contestant:
    module = importlib.import_module(f"kafka.protocol.{MODULES[api][0]}")
    message = getattr(module, api + direction.capitalize())

    def decode(body: bytes) -> Any:
        return message.decode(body, version=version)

    def encode(value: Any) -> bytes:
        encoded: bytes = value.encode()
        return encoded

    return Contestant(name, decode, encode)


def _aiokafka(name: str, api: str, direction: Direction, version: int) -> Contestant:
    module = importlib.import_module(f"aiokafka.protocol.{MODULES[api][1]}")
    stem = f"{api}{direction.capitalize()}_v"
    versions = sorted(int(n.removeprefix(stem)) for n in dir(module) if n.startswith(stem))
    if version not in versions:
        raise LookupError(f"ends at {api} v{versions[-1]}")
    message = getattr(module, f"{stem}{version}")

    def encode(value: Any) -> bytes:
        encoded: bytes = value.encode()
        return encoded

    return Contestant(name, message.decode, encode)


def _kio(name: str, api: str, direction: Direction, version: int) -> Contestant:
    serial = importlib.import_module("kio.serial")
    module = importlib.import_module(f"kio.schema.{snake(api)}.v{version}.{direction}")
    entity = getattr(module, api + direction.capitalize())
    read, write = serial.entity_reader(entity), serial.entity_writer(entity)

    def decode(body: bytes) -> Any:
        return read(body, 0)[0]

    def encode(value: Any) -> bytes:
        buffer = io.BytesIO()
        write(buffer, value)
        return buffer.getvalue()

    return Contestant(name, decode, encode)


def snake(api: str) -> str:
    """Convert an API's name to kio's spelling.

    >>> snake("FindCoordinator")
    'find_coordinator'
    """
    return re.sub(r"(?<!^)([A-Z])", r"_\1", api).lower()


ALIASES: Final = {"topic_authorized_operations": "authorized_operations"}
"""kafka-python's own names."""


def differs(mine: Any, other: Any, path: str = "") -> str | None:
    """Describe the first difference of two decoded values; None if they agree.

    Classes that hold the fields do not matter.

    >>> differs({"a": [1, b"x"]}, {"a": (1, memoryview(b"x"))})
    >>> differs({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})
    'a[1].b is 3, not 2'
    """
    if other is None and _absent(mine):
        return None
    if isinstance(mine, dict):
        dot = f"{path}." if path else ""
        difference = (differs(item, _field(other, name), dot + name) for name, item in mine.items())
        return next((problem for problem in difference if problem), None)
    if isinstance(mine, list):
        if not isinstance(other, list | tuple) or len(other) != len(mine):
            return f"{path} is {other!r}, not {mine!r}"
        pairs = enumerate(zip(mine, other, strict=True))
        difference = (differs(pair, item, f"{path}[{i}]") for i, (pair, item) in pairs)
        return next((problem for problem in difference if problem), None)
    if isinstance(other, Enum):
        other = other.value
    elif isinstance(other, timedelta):
        other //= timedelta(milliseconds=1)
    elif isinstance(other, bytearray | memoryview):
        other = bytes(other)
    return None if mine == other else f"{path} is {other!r}, not {mine!r}"


def _field(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    names = (name, ALIASES.get(name, name), name.removesuffix("_ms"))  # kio has times as such
    return next((getattr(value, name) for name in names if hasattr(value, name)), None)


def _absent(value: Any) -> bool:
    """Return whether a value stands for an absent field, which some codecs show as None."""
    if isinstance(value, dict):
        return set(value.values()) == {-1}
    return bool(value is None or value == -(2**31))
