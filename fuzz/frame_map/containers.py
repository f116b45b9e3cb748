"""The map of a container of compressed bytes, from its declaration in specs.containers.

The declaration is walked as construct would parse it, and each field is noted, as far as the bytes can be
read; the rest is one part.
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
"""Elements of one array, such as snappy's, that are noted; the following ones are one part."""

_SIZES: Final = {"B": 8, "H": 16, "L": 32, "Q": 64}


def declared(codec: str, magic: int, data: bytes) -> tuple[str, Construct] | None:
    """Return the name and declaration of a container; None for a codec without one.

    magic: the batch's.
    """
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
    """Note the parts of a container."""
    parts.add(Part(path, "container", 0, len(data)))
    walk = _Walk(data, parts)
    with contextlib.suppress(ConstructError):
        walk.field(declaration, path, Container(), ())
    walk.rest(path, len(data), ())


class _Walk:
    """A walk over a declaration that notes the parts of the bytes."""

    def __init__(self, data: bytes, parts: Parts) -> None:
        self.stream = io.BytesIO(data)
        self.end = len(data)
        self.parts = parts
        self.noted = 0
        """The end of what is noted."""

    def field(
        self,
        declaration: Construct,
        path: str,
        context: Any,
        around: tuple[int, ...],
        role: Length | Checksum | None = None,
    ) -> Any:
        """Read and note a field; return its value. Raises ConstructError."""
        match declaration:
            case construct.Struct():
                return self._struct(declaration, path, context, around)
            case construct.GreedyRange():
                return self._elements(declaration.subcon, path, context, around)
            case construct.RepeatUntil():
                elements: list[Any] = []
                while not elements or not declaration.predicate(elements[-1], elements, context):
                    elements.append(
                        self._element(declaration.subcon, path, len(elements), context, around)
                    )
                return elements
            case construct.IfThenElse():
                condition = evaluate(declaration.condfunc, context)
                chosen = declaration.thensubcon if condition else declaration.elsesubcon
                return self.field(chosen, path, context, around, role)
            case construct.Switch():
                chosen = declaration.cases.get(
                    evaluate(declaration.keyfunc, context), declaration.default
                )
                return self.field(chosen, path, context, around, role)
            case construct.Prefixed():
                return self._prefixed(declaration, path, context, around)
            case construct.Peek():
                return declaration._parsereport(self.stream, context, path)
            case construct.Renamed() | Length() | Checksum():
                return self.field(declaration.subcon, path, context, around, role)
        return self._leaf(declaration, path, context, around, role)

    def rest(self, path: str, end: int, around: tuple[int, ...]) -> None:
        """Note the bytes up to an end as one part."""
        if self.noted < end:
            self.parts.add(Part(f"{path}.rest", "bytes", self.noted, end, around=around))
        self.noted = end
        self.stream.seek(end)

    def _struct(self, declaration: Any, path: str, outer: Any, around: tuple[int, ...]) -> Any:
        context = Container(_=outer)
        begun: dict[str, int] = {}
        lengths: dict[str, int] = {}
        for field in declaration.subcons:
            first = begun[field.name] = len(self.parts.items)
            field_around = (lengths[field.name], *around) if field.name in lengths else around
            role = _role(field)
            context[field.name] = self.field(
                field, f"{path}.{field.name}", context, field_around, role
            )
            if len(self.parts.items) == first:  # the field is absent
                continue
            if isinstance(role, Length) and role.of:
                lengths[role.of] = first
            elif isinstance(role, Checksum) and role.since:
                self.parts.sums_up(first, begun[role.since])
        return context

    def _elements(
        self, declaration: Any, path: str, context: Any, around: tuple[int, ...]
    ) -> list[Any]:
        elements: list[Any] = []
        while self.stream.tell() < self.end:
            if len(elements) == ELEMENTS:
                self.rest(path, self.end, around)
                break
            elements.append(self._element(declaration, path, len(elements), context, around))
        return elements

    def _element(
        self, declaration: Any, path: str, number: int, context: Any, around: tuple[int, ...]
    ) -> Any:
        if isinstance(declaration, construct.Prefixed):
            return self.field(declaration, f"{path}[{number}]", context, around)
        whole = self.parts.add(
            Part(f"{path}[{number}]", "struct", self.stream.tell(), self.end, around=around)
        )
        value = self.field(declaration, f"{path}[{number}]", context, around)
        self.parts.ends(whole, self.noted)
        return value

    def _prefixed(self, declaration: Any, path: str, context: Any, around: tuple[int, ...]) -> Any:
        index = len(self.parts.items)
        role = Length(declaration.lengthfield)
        size = self._leaf(declaration.lengthfield, f"{path}.length", context, around, role)
        outer, start = self.end, self.noted
        if not 0 <= size <= outer - start:
            raise ConstructError(f"{size} bytes announced", path=path)
        around = (index, *around)
        self.parts.add(Part(path, "struct", start, start + size, around=around))
        self.end = start + size
        value = self.field(declaration.subcon, path, context, around)
        self.rest(path, self.end, around)
        self.end = outer
        return value

    def _leaf(
        self,
        declaration: Any,
        path: str,
        context: Any,
        around: tuple[int, ...],
        role: Length | Checksum | None,
    ) -> Any:
        """Read and note a field without inner fields."""
        start = self.stream.tell()
        value = declaration._parsereport(self.stream, context, path)
        end = self.stream.tell()
        if end > self.end:
            raise ConstructError("beyond what it stands in", path=path)
        if end > start:
            kind, coding, number = _written(declaration, role, value)
            self.parts.add(Part(path, kind, start, end, around=around, coding=coding, value=number))
            self.noted = end
        return value


def _role(field: Any) -> Length | Checksum | None:
    """Return the role of a structure's field, also of an optional one."""
    while not isinstance(field, Length | Checksum):
        if isinstance(field, construct.Renamed):
            field = field.subcon
        elif isinstance(field, construct.IfThenElse):
            field = field.thensubcon
        else:
            return None
    return field


def _written(declaration: Any, role: Length | Checksum | None, value: Any) -> tuple[str, str, int]:
    """Return the kind of a part, its coding and its value: of bytes, their number."""
    match declaration:
        case construct.FormatField():
            char = declaration.fmtstr[1:]
            coding = f"{'u' * char.isupper()}int{_SIZES[char.upper()]}" + "le" * (
                declaration.fmtstr[0] == "<"
            )
        case construct.BytesInteger():
            coding = f"uint{8 * declaration.length}le"
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
    if coding == "uint8":  # flags and methods: mutators handle signed bytes
        return "int8", "int8", (value ^ 0x80) - 0x80
    return coding.removesuffix("le"), coding, value
