"""Where everything stands in a container of compressed bytes: by its declaration in specs.containers.

The declaration is walked as construct would parse it, and each field is noted on the way, as far as the bytes
can be read; what is left behind that is one part.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any, Final

import construct
from construct import Construct, ConstructError, Container, evaluate

from barnabas.fuzz.frame_map.numbers import shifted
from barnabas.fuzz.frame_map.parts import Part, Parts
from barnabas.specs.containers import xerial
from barnabas.specs.containers.gzip import GZIP
from barnabas.specs.containers.lz4 import LZ4, LZ4_MAGIC_0
from barnabas.specs.containers.roles import Checksum, Length
from barnabas.specs.containers.snappy import SNAPPY
from barnabas.specs.containers.zstd import ZSTD

ELEMENTS: Final = 64
"""Of a kind in one place that are noted, such as elements of snappy; all behind them are one part."""

_SIZES: Final = {"B": 8, "H": 16, "L": 32, "Q": 64}


def declared(codec: str, magic: int, data: bytes) -> tuple[str, Construct] | None:
    """The name of a container and its declaration; None for what has none. magic: the batch's."""
    match codec:
        case "gzip":
            return codec, GZIP
        case "lz4":
            return codec, LZ4 if magic else LZ4_MAGIC_0
        case "zstd":
            return codec, ZSTD
        case "snappy" if data.startswith(xerial.MAGIC):
            return "xerial", xerial.XERIAL
        case "snappy":
            return codec, SNAPPY
    return None


def note(data: bytes, parts: Parts, path: str, declaration: Construct) -> None:
    """Note the parts of a container that the data is."""
    parts.add(Part(path, "container", 0, len(data)))
    walk = _Walk(data, parts)
    with contextlib.suppress(ConstructError):
        walk.field(declaration, path, Container(), ())
    walk.rest(path, len(data), ())


class _Walk:
    """Notes what a declaration says of bytes."""

    def __init__(self, data: bytes, parts: Parts) -> None:
        self.stream = io.BytesIO(data)
        self.end = len(data)
        self.parts = parts
        self.noted = 0
        """Where what is noted ends."""

    def field(
        self,
        one: Construct,
        path: str,
        context: Any,
        around: tuple[int, ...],
        role: Length | Checksum | None = None,
    ) -> Any:
        """A field's value. Raises ConstructError."""
        match one:
            case construct.Struct():
                return self._struct(one, path, context, around)
            case construct.GreedyRange():
                return self._elements(one.subcon, path, context, around)
            case construct.RepeatUntil():
                found: list[Any] = []
                while not found or not one.predicate(found[-1], found, context):
                    found.append(self._element(one.subcon, path, len(found), context, around))
                return found
            case construct.IfThenElse():
                wanted = evaluate(one.condfunc, context)
                chosen = one.thensubcon if wanted else one.elsesubcon
                return self.field(chosen, path, context, around, role)
            case construct.Switch():
                chosen = one.cases.get(evaluate(one.keyfunc, context), one.default)
                return self.field(chosen, path, context, around, role)
            case construct.Prefixed():
                return self._prefixed(one, path, context, around)
            case construct.Peek():
                return one._parsereport(self.stream, context, path)
            case construct.Renamed() | Length() | Checksum():
                return self.field(one.subcon, path, context, around, role)
        return self._leaf(one, path, context, around, role)

    def rest(self, path: str, end: int, around: tuple[int, ...]) -> None:
        """Note what nothing was said about, up to an end."""
        if self.noted < end:
            self.parts.add(Part(f"{path}.rest", "bytes", self.noted, end, around=around))
        self.noted = end
        self.stream.seek(end)

    def _struct(self, one: Any, path: str, outer: Any, around: tuple[int, ...]) -> Any:
        context = Container(_=outer)
        begun: dict[str, int] = {}
        lengths: dict[str, int] = {}
        for field in one.subcons:
            first = begun[field.name] = len(self.parts.found)
            own = (lengths[field.name], *around) if field.name in lengths else around
            role = _role(field)
            context[field.name] = self.field(field, f"{path}.{field.name}", context, own, role)
            if len(self.parts.found) == first:  # it is not there
                continue
            if isinstance(role, Length) and role.of:
                lengths[role.of] = first
            elif isinstance(role, Checksum) and role.since:
                self.parts.sums_up(first, begun[role.since])
        return context

    def _elements(self, one: Any, path: str, context: Any, around: tuple[int, ...]) -> list[Any]:
        found: list[Any] = []
        while self.stream.tell() < self.end:
            if len(found) == ELEMENTS:
                self.rest(path, self.end, around)
                break
            found.append(self._element(one, path, len(found), context, around))
        return found

    def _element(
        self, one: Any, path: str, number: int, context: Any, around: tuple[int, ...]
    ) -> Any:
        if isinstance(one, construct.Prefixed):
            return self.field(one, f"{path}[{number}]", context, around)
        whole = self.parts.add(
            Part(f"{path}[{number}]", "struct", self.stream.tell(), self.end, around=around)
        )
        value = self.field(one, f"{path}[{number}]", context, around)
        self.parts.ends(whole, self.noted)
        return value

    def _prefixed(self, one: Any, path: str, context: Any, around: tuple[int, ...]) -> Any:
        index = len(self.parts.found)
        role = Length(one.lengthfield)
        size = self._leaf(one.lengthfield, f"{path}.length", context, around, role)
        outer, start = self.end, self.noted
        if not 0 <= size <= outer - start:
            raise ConstructError(f"{size} bytes announced", path=path)
        around = (index, *around)
        self.parts.add(Part(path, "struct", start, start + size, around=around))
        self.end = start + size
        value = self.field(one.subcon, path, context, around)
        self.rest(path, self.end, around)
        self.end = outer
        return value

    def _leaf(
        self,
        one: Any,
        path: str,
        context: Any,
        around: tuple[int, ...],
        role: Length | Checksum | None,
    ) -> Any:
        """A field that has no others in it."""
        start = self.stream.tell()
        value = one._parsereport(self.stream, context, path)
        end = self.stream.tell()
        if end > self.end:
            raise ConstructError("beyond what it stands in", path=path)
        if end > start:
            kind, coding, number = _written(one, role, value)
            self.parts.add(Part(path, kind, start, end, around=around, coding=coding, value=number))
            self.noted = end
        return value


def _role(field: Any) -> Length | Checksum | None:
    """What a field of a structure is about, if it says so: also one that may not be there."""
    while not isinstance(field, Length | Checksum):
        if isinstance(field, construct.Renamed):
            field = field.subcon
        elif isinstance(field, construct.IfThenElse):
            field = field.thensubcon
        else:
            return None
    return field


def _written(one: Any, role: Length | Checksum | None, value: Any) -> tuple[str, str, int]:
    """The kind of a part, its coding and its value: of bytes, how many they are."""
    match one:
        case construct.FormatField():
            char = one.fmtstr[1:]
            coding = f"{'u' * char.isupper()}int{_SIZES[char.upper()]}" + "le" * (
                one.fmtstr[0] == "<"
            )
        case construct.BytesInteger():
            coding = f"uint{8 * one.length}le"
        case construct.VarInt:
            coding = "uvarint"
        case _:
            coding = ""
    if isinstance(role, Checksum):
        return "crc", role.algorithm + "le" * coding.endswith("le"), value
    if isinstance(role, Length):
        if role.shift:
            coding = shifted(coding, role.shift, value & (1 << role.shift) - 1)
        return "length", role.coding or coding, value >> role.shift
    if not coding:
        return "bytes", "", len(value)
    if coding == "uint8":  # flags and methods: mutators know bytes with a sign
        return "int8", "int8", (value ^ 0x80) - 0x80
    return coding.removesuffix("le"), coding, value
