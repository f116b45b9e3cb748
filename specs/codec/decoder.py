"""The fast reader: Python source for one layout, for all fields or for just those that are wanted.

A generated decoder reads regular bytes only. Whatever it does not like (too short, null in the wrong
place, bytes left over, text that is no UTF-8) it raises as any of `IRREGULAR`, and the caller turns to
`specs.codec.inspect`, which knows what Kafka would make of it. Positions only grow, so one comparison
at the end stands for a bounds check at each slice; counts are checked before anything loops.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from typing import Any

from specs.codec.source import CHARS, FEW, Source, few_unpackers, fixed_name, size_of, uuid_of
from specs.layout import Layout, Node, Slot

Wanted = dict[str, Any]
"""The fields to read: name -> Wanted for some of what is inside, or None for all of it."""


class Irregular(Exception):
    """Bytes that the fast reader leaves to the careful one."""


IRREGULAR = (Irregular, struct.error, IndexError, UnicodeDecodeError)
"""All that a generated decoder raises."""


def uvarint_from(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned varint at a position, and the position behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 31:
                raise Irregular
            return value, at
        shift += 7
        if shift > 28:
            raise Irregular


def wanted_tree(paths: tuple[str, ...]) -> Wanted:
    """The tree of some dotted paths.

    >>> wanted_tree(("topics.name", "topics.partitions", "acks"))
    {'topics': {'name': None, 'partitions': None}, 'acks': None}
    """
    tree: Wanted = {}
    for path in paths:
        *parents, leaf = path.split(".")
        at = tree
        for parent in parents:
            at = at.setdefault(parent, {})
        at[leaf] = None
    return tree


def decoder(layout: Layout, origin: str, wanted: Wanted | None = None) -> Callable[[bytes], Any]:
    """A function of the body's bytes to a dict of the (wanted) fields."""
    writer = _Writer(wanted is not None)
    writer.root(layout, wanted)
    return writer.source.compile("decode(b):", f"decode {origin}")


def locator(layout: Layout, origin: str, wanted: Wanted) -> Callable[[bytes], Any]:
    """A function of the body's bytes to where addresses stand: (places, boxes).

    A place is (node id, host, port, start, end), the bytes of host and port; a box is (start of the
    size, start of the content, end) of the tagged field that holds them, to be rewritten with them.
    """
    writer = _Writer(True, locating=True)
    writer.root(layout, wanted)
    return writer.source.compile("locate(b):", f"locate {origin}")


class _Writer:
    def __init__(self, partial: bool, locating: bool = False) -> None:
        self.source = Source(uvarint=uvarint_from, Irregular=Irregular)
        self.partial = partial
        self.locating = locating
        self.run: list[tuple[str, str]] = []

    def read(self, char: str, prefix: str) -> str:
        """Put a fixed-size field into the run; its variable is set when the run is flushed."""
        name = self.source.name(prefix)
        self.run.append((char, name))
        return name

    def flush(self) -> None:
        if not self.run:
            return
        chars = "".join(char for char, _ in self.run)
        names = "".join(f"{name}, " for _, name in self.run if name)
        size = size_of(chars)
        named = [(i, char, name) for i, (char, name) in enumerate(self.run) if name]
        if len(named) == 1 and named[0][1] == "B":  # a lone length or count: no call for it
            before = size_of("".join(char for char, _ in self.run[: named[0][0]]))
            self.source.emit(f"{named[0][2]} = b[{f'p + {before}' if before else 'p'}]")
        elif names:
            unpack = self.source.constant(
                fixed_name("unpack", chars), struct.Struct(">" + chars).unpack_from
            )
            self.source.emit(f"{names}= {unpack}(b, p)")
        self.source.emit(f"p += {size}")
        self.run = []

    def root(self, layout: Layout, wanted: Wanted | None) -> None:
        emit = self.source.emit
        emit("n = len(b)")
        emit("p = 0")
        if self.locating:
            emit("places = []")
            emit("boxes = []")
        value = self.struct(layout, wanted, root=True)
        self.flush()
        emit(f"if p {'>' if self.partial else '!='} n: raise Irregular")
        emit("return places, boxes" if self.locating else f"return {value}")

    def struct(self, layout: Layout, wanted: Wanted | None, root: bool = False) -> str:
        """Read a structure; the expression of its dict (to be used after a flush)."""
        parts: dict[str, str] = {}
        left = set(wanted) if wanted is not None else None
        start = ""
        for slot in layout.plain:
            if left is not None and not left and root and self.partial:
                break  # nothing more is wanted: what follows need not be walked
            if left is not None and slot.name not in left:
                self.skip(slot.node)
                continue
            if left is not None:
                left.discard(slot.name)
            if self.locating and slot.name == "host":
                self.flush()
                start = self.source.name("s")
                self.source.emit(f"{start} = p")
            parts[slot.name] = self.value(slot.node, wanted and wanted[slot.name])
            if self.locating and slot.name == "port":
                self.flush()
                owner = next(iter(parts.values()))
                place = f"{owner}, {parts['host']}, {parts['port']}, {start}, p"
                self.source.emit(f"places.append(({place}))")
        if not layout.flexible or (root and left is not None and not left and self.partial):
            return self.display(parts)
        return self.tags(layout, wanted, left, parts)

    def display(self, parts: dict[str, str]) -> str:
        return "{" + ", ".join(f"{name!r}: {value}" for name, value in parts.items()) + "}"

    def tags(
        self, layout: Layout, wanted: Wanted | None, left: set[str] | None, parts: dict[str, str]
    ) -> str:
        emit, block = self.source.emit, self.source.block
        known = [slot for slot in layout.tagged if left is None or slot.name in left]
        count = self.read("B", "t")
        self.flush()
        unknown = self.source.name("u")
        for slot in known:
            parts[slot.name] = self.source.name("x")
            emit(f"{parts[slot.name]} = {self.default(slot.fresh_default())}")
        with block(f"if {count}:"):
            if not self.partial:
                emit(f"{unknown} = None")
            emit(f"if {count} > 127: {count}, p = uvarint(b, p - 1)")
            emit(f"if {count} > n - p: raise Irregular")
            with block(f"for _ in range({count}):"):
                self.tag(known, layout.foreign_tags, unknown, wanted, parts)
        ordered = self.display({s.name: parts[s.name] for s in layout.slots if s.name in parts})
        if self.partial:
            return ordered
        value = self.source.name("v")
        emit(f"{value} = {ordered}")
        emit(f"if {count} and {unknown}: {value}['_tags'] = {unknown}")
        return value

    def tag(
        self,
        known: list[Slot],
        foreign_tags: frozenset[int],
        unknown: str,
        wanted: Wanted | None,
        parts: dict[str, str],
    ) -> None:
        emit, block = self.source.emit, self.source.block
        number, size, start, end = (self.source.name(prefix) for prefix in "kzse")
        emit(f"{number} = b[p]")
        emit("p += 1")
        emit(f"if {number} > 127: {number}, p = uvarint(b, p - 1)")
        emit(f"{start} = p")
        emit(f"{size} = b[p]")
        emit("p += 1")
        emit(f"if {size} > 127: {size}, p = uvarint(b, p - 1)")
        emit(f"{end} = p + {size}")
        branch = "if"
        for slot in known:
            with block(f"{branch} {number} == {slot.tag}:"):
                if self.locating:
                    emit(f"boxes.append(({start}, p, {end}))")
                value = self.value(slot.node, wanted and wanted[slot.name])
                self.flush()
                emit(f"{parts[slot.name]} = {value}")
                emit(f"if p != {end}: raise Irregular")
            branch = "elif"
        rest = block("else:") if known else block("if True:")
        with rest:
            for foreign in sorted(foreign_tags):
                emit(f"if {number} == {foreign}: raise Irregular")
            if not self.partial:
                emit(f"if {unknown} is None: {unknown} = {{}}")
                emit(f"{unknown}[{number}] = b[p:{end}]")
            emit(f"p = {end}")

    def default(self, value: Any) -> str:
        """An expression that makes a default afresh."""
        if isinstance(value, dict):
            return self.display({name: self.default(item) for name, item in value.items()})
        if isinstance(value, uuid.UUID):
            return self.source.constant("zero", value)
        return repr(value)

    def length(self, node: Node, char: str) -> tuple[str, str]:
        """Read a length or count; the expressions of whether it stands for null, and of itself."""
        length = self.read("B" if node.compact else char, "l")
        self.flush()
        if not node.compact:
            return f"{length} < 0", length
        more, emit = self.source.name("m"), self.source.emit
        with self.source.block(f"if {length} > 127:"):
            emit(f"{more} = b[p]")  # two bytes are common enough for no call
            with self.source.block(f"if {more} < 128:"):
                emit(f"{length} += ({more} << 7) - 128")
                emit("p += 1")
            emit(f"else: {length}, p = uvarint(b, p - 1)")
            if node.kind == "string":
                emit(f"if {length} > 32768: raise Irregular")
        return f"not {length}", f"{length} - 1"

    def value(self, node: Node, wanted: Wanted | None) -> str:
        """Read a value; the expression that stands for it (to be used after a flush)."""
        emit, block = self.source.emit, self.source.block
        if node.kind in CHARS:
            name = self.read(CHARS[node.kind], "x")
            return (
                f"{self.source.constant('uuid', uuid_of)}({name})" if node.kind == "uuid" else name
            )
        value = self.source.name("x")
        if node.kind == "struct":
            assert node.struct is not None  # noqa: S101
            if not node.nullable:
                return self.struct(node.struct, wanted)
            marker = self.read("b", "m")
            self.flush()
            emit(f"{value} = None")
            with block(f"if {marker} >= 0:"):
                inner = self.struct(node.struct, wanted)
                self.flush()
                emit(f"{value} = {inner}")
            return value
        null, length = self.length(node, "h" if node.kind == "string" else "i")
        if not node.nullable:
            emit(f"if {null}: raise Irregular")
            self.content(node, wanted, value, length)
            return value
        with block(f"if {null}:"):
            emit(f"{value} = None")
        with block("else:"):
            self.content(node, wanted, value, length)
        return value

    def content(self, node: Node, wanted: Wanted | None, value: str, length: str) -> None:
        """Read what stands behind a length or count that is not null's."""
        emit = self.source.emit
        if node.kind == "array":
            assert node.element is not None  # noqa: S101
            self.items(node.element, wanted, value, length)
            return
        end = self.source.name("e")
        emit(f"{end} = p + {length}")
        emit(f"{value} = b[p:{end}]{'.decode()' if node.kind == 'string' else ''}")
        emit(f"p = {end}")

    def items(self, element: Node, wanted: Wanted | None, value: str, count: str) -> None:
        """Read the elements of an array into a list."""
        emit, block = self.source.emit, self.source.block
        if element.kind in CHARS and element.kind != "uuid":
            char = CHARS[element.kind]
            number, end = self.source.name("c"), self.source.name("e")
            few = self.source.constant(f"few_{char.replace('?', 'o')}", few_unpackers(char))
            unpack = self.source.constant("unpack_many", struct.unpack_from)
            emit(f"{number} = {count}")
            emit(f"{end} = p + {number} * {size_of(char)}")
            emit(f"if {end} > n: raise Irregular")
            many = f"{unpack}(f'>{{{number}}}{char}', b, p)"
            emit(f"{value} = list({few}[{number}](b, p) if {number} < {FEW} else {many})")
            emit(f"p = {end}")
            return
        emit(f"if {count} > n - p: raise Irregular")
        emit(f"{value} = []")
        with block(f"for _ in range({count}):"):
            item = self.value(element, wanted)
            self.flush()
            emit(f"{value}.append({item})")

    def skip(self, node: Node) -> None:
        """Pass over a value that is not wanted."""
        emit, block = self.source.emit, self.source.block
        if node.kind in CHARS:
            self.run.append((f"{size_of(CHARS[node.kind])}x", ""))
        elif node.kind == "struct":
            assert node.struct is not None  # noqa: S101
            if not node.nullable:
                self.struct(node.struct, {})
                return
            marker = self.read("b", "m")
            self.flush()
            with block(f"if {marker} >= 0:"):
                self.struct(node.struct, {})
                self.flush()
        else:
            null, length = self.length(node, "h" if node.kind == "string" else "i")
            if node.kind != "array":
                emit(f"if not {null}: p += {length}")
                return
            assert node.element is not None  # noqa: S101
            if node.element.kind in CHARS:
                emit(f"if not {null}: p += ({length}) * {size_of(CHARS[node.element.kind])}")
                return
            emit(f"if {length} > n - p: raise Irregular")
            with block(f"for _ in range({length}):"):
                self.skip(node.element)
                self.flush()
