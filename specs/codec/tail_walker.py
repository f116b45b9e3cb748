"""Writes a walker over the fields in front of a tail: it goes by their lengths, and keeps no byte of them.

A walker is a generator, since a body comes in chunks: it yields how many bytes it passes over before the next
that it must see, and is sent (data, offset, end, position of data[0]) when that one is there. It returns the
offset at which the tail begins. As a decoder it raises Irregular at bytes that it leaves to others.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

from barnabas.specs.codec.codegen import CHARS, Source, size_of, variable
from barnabas.specs.codec.irregular import Irregular
from barnabas.specs.layout import Layout, Node, Slot

Chunk = tuple[bytes | memoryview, int, int, int]
Walk = Generator[int, Chunk, int]


def tail_walker(front: Iterable[Slot], origin: str) -> Callable[[int, int], Walk]:
    """A walker over a tagged section without known fields (that of a header), and over these slots of a
    flexible layout. It begins behind so many bytes, of so many that come in all."""
    emitter = _WalkerEmitter()
    emitter.tags((), frozenset(), "header")
    for slot in front:
        emitter.skip(slot.node, slot.name)
    emitter.see()
    emitter.source.emit("return p")
    return emitter.source.compile("walk(p, z):", f"walk {origin}")


def _uvarint(value: int, *chunk: *Chunk) -> Generator[int, Chunk, tuple[int, *Chunk]]:
    """The number of a varint whose first byte is known, and where the walker is behind it."""
    b, p, n, a = chunk
    value &= 0x7F
    for shift in (7, 14, 21, 28):
        if p >= n:
            b, p, n, a = yield p - n
        byte = b[p]
        p += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 31:
                raise Irregular
            return value, b, p, n, a
    raise Irregular


class _WalkerEmitter:
    """A walker under construction: it is at `p` of `b`, of which `n` bytes are here; `a` came before it,
    and `z` come in all."""

    def __init__(self) -> None:
        self.source = Source("b", "p", "n", "a", "z", uvarint=_uvarint, Irregular=Irregular)
        self.source.emit("n = 0")
        self.fixed: list[tuple[int, str]] = []
        """Fields side by side of which only the size matters: it, and the path."""

    def see(self) -> None:
        """Wait until the next byte is here."""
        self.flush()
        self.source.emit("if p >= n: b, p, n, a = yield p - n")

    def flush(self) -> None:
        """Pass over the fields of which only the size matters."""
        if self.fixed:
            sizes, paths = zip(*self.fixed, strict=True)
            self.source.comment(paths)
            self.source.emit(f"p += {sum(sizes)}")
            self.fixed = []

    def number(self, wanted: str) -> str:
        """Read a varint; its variable."""
        name, emit = self.source.name(wanted), self.source.emit
        self.see()
        emit(f"{name} = b[p]")
        emit("p += 1")
        with self.source.block(f"if {name} > 127:"):  # two bytes are common enough for no call
            emit(f"if p < n and b[p] < 128: {name}, p = {name} - 128 + (b[p] << 7), p + 1")
            emit(f"else: {name}, b, p, n, a = yield from uvarint({name}, b, p, n, a)")
        return name

    def skip(self, node: Node, path: str) -> None:
        """Pass over a value."""
        emit, block = self.source.emit, self.source.block
        if node.kind in CHARS:
            self.fixed.append((size_of(CHARS[node.kind]), path))
            return
        if node.kind == "struct":
            assert node.struct is not None  # noqa: S101
            assert not node.nullable  # noqa: S101 - none is
            self.struct(node.struct, path)
            return
        assert node.compact  # noqa: S101 - as is all of a flexible layout
        self.flush()
        self.source.comment([path])
        if node.kind != "array":
            size = self.number(f"{variable(path)}_size")
            if node.kind == "string":
                emit(f"if {size} > 32768: raise Irregular")
            emit(f"if {size}: p += {size} - 1")
            return
        assert node.element is not None  # noqa: S101
        count = self.number(f"{variable(path)}_count")
        if node.element.kind in CHARS:
            emit(f"if {count}: p += ({count} - 1) * {size_of(CHARS[node.element.kind])}")
            return
        emit(f"if {count} > z - a - p: raise Irregular")
        with block(f"for _ in range({count} - 1):"):
            self.skip(node.element, f"{path}[]")

    def struct(self, layout: Layout, path: str) -> None:
        """Pass over a structure, which ends with a tagged section."""
        for slot in layout.plain:
            self.skip(slot.node, f"{path}.{slot.name}")
        self.tags(layout.tagged, layout.foreign_tags, path)

    def tags(self, known: tuple[Slot, ...], foreign: frozenset[int], path: str) -> None:
        """Pass over a tagged section. What is known must have the size that is said: Kafka goes by what a
        field holds, and others by its size."""
        emit, block = self.source.emit, self.source.block
        count = self.number(f"{variable(path)}_tags")
        emit(f"if {count} > z - a - p: raise Irregular")
        with block(f"for _ in range({count}):"):
            tag = self.number("tag")
            if foreign:
                emit(f"if {tag} in {sorted(foreign)}: raise Irregular")
            size = self.number("size")
            branch = "if"
            for slot in known:
                with block(f"{branch} {tag} == {slot.tag}:"):
                    end = self.source.name("end")
                    emit(f"{end} = a + p + {size}")
                    self.skip(slot.node, f"{path}.{slot.name}")
                    self.flush()
                    emit(f"if a + p != {end}: raise Irregular")
                branch = "elif"
            emit(f"{'else: ' if known else ''}p += {size}")
