"""Writes a walker over the fields in front of a tail: it goes by their lengths, and keeps no byte of them.

A walker is a generator, since a body comes in chunks: it yields how many bytes it passes over before the next
that it must see, and is sent (data, offset, end, position of data[0]) when that one is there. It returns the
offset at which the tail begins. As a decoder it raises Irregular at bytes that it leaves to others.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

from barnabas.specs.codec.codegen import Source, variable
from barnabas.specs.codec.decoder_source import DecoderEmitter
from barnabas.specs.codec.fixed_runs import FixedRun
from barnabas.specs.codec.irregular import Irregular
from barnabas.specs.layout import Layout, Node, Slot

Chunk = tuple[bytes | memoryview, int, int, int]
Walk = Generator[int, Chunk, int]


def tail_walker(front: Iterable[Slot], origin: str) -> Callable[[int, int], Walk]:
    """A walker over a tagged section without known fields (that of a header), and over these slots of a
    flexible layout. It begins behind so many bytes, of so many that come in all."""
    emitter = _WalkerEmitter()
    emitter.tail(front)
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


class _WalkerEmitter(DecoderEmitter):
    """A walker under construction: it is at `p` of `b`, of which `n` bytes are here; `a` came before it,
    and `z` come in all. It passes over fields as decoders do, and waits for each byte that it reads."""

    remaining = "z - a - p"
    position = "a + p"

    def __init__(self) -> None:
        super().__init__(partial=True)
        self.source = Source("b", "p", "n", "a", "z", uvarint=_uvarint, Irregular=Irregular)
        self.run = FixedRun(self.source)

    def tail(self, front: Iterable[Slot]) -> None:
        """Emit the whole function."""
        self.source.emit("n = 0")
        self.struct(Layout((), flexible=True), {}, "header")
        for slot in front:
            self.skip(slot.node, slot.name)
        self.see()
        self.source.emit("return p")

    def see(self) -> None:
        """Wait until the next byte is here."""
        self.run.flush()
        self.source.emit("if p >= n: b, p, n, a = yield p - n")

    def begin_varint(self, wanted: str) -> str:
        """Read an unsigned varint to its end, which may be in another chunk; its variable."""
        name, emit = self.source.name(wanted), self.source.emit
        self.see()
        emit(f"{name} = b[p]")
        emit("p += 1")
        with self.source.block(f"if {name} > 127:"):  # two bytes are common enough for no call
            emit(f"if p < n and b[p] < 128: {name}, p = {name} - 128 + (b[p] << 7), p + 1")
            emit(f"else: {name}, b, p, n, a = yield from uvarint({name}, b, p, n, a)")
        return name

    def end_varint(self, name: str) -> None:
        """Do nothing: the varint was read to its end."""

    def length(self, node: Node, path: str) -> tuple[str, str]:
        """Read a length or count; the expressions of whether it stands for null, and of itself."""
        assert node.compact  # noqa: S101 - as is all of a flexible layout
        self.run.flush()
        self.source.comment([path])
        length = self.begin_varint(
            f"{variable(path)}_{'count' if node.kind == 'array' else 'size'}"
        )
        if node.kind == "string":
            self.source.emit(f"if {length} > 32768: raise Irregular")
        return f"not {length}", f"{length} - 1"

    def present(self, node: Node, path: str) -> str:
        """Raise AssertionError: no structure in front of a tail may be null."""
        raise AssertionError(path)
