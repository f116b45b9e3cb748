"""Generates a walker over the fields before a tail: it follows their lengths and retains none of their bytes.

A body arrives in chunks, so a walker is a generator. It yields the number of bytes to skip before the next
byte it must see. It is sent (data, offset, end, position of data[0]) when that byte has arrived. It returns
the offset of the tail. Like a decoder, it raises Irregular for irregular bytes.
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
    """Return a walker over a tagged section without known fields (a header's), and over these slots.

    The slots are those of a flexible layout. The walker's arguments are the bytes before the tagged section,
    and the size of the whole.
    """
    emitter = _WalkerEmitter()
    emitter.tail(front)
    return emitter.source.compile("walk(p, z):", f"walk {origin}")


def _uvarint(value: int, *chunk: *Chunk) -> Generator[int, Chunk, tuple[int, *Chunk]]:
    """Return a varint whose first byte is known, and the walker's state after it."""
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
    """A walker under construction.

    The generated code is at `p` of `b`, of which `n` bytes have arrived. `a` bytes precede `b`, and `z` is
    the size of the whole. It skips fields as decoders do, and waits for each byte that it reads.
    """

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
        """Emit code that waits until the next byte has arrived."""
        self.run.flush()
        self.source.emit("if p >= n: b, p, n, a = yield p - n")

    def begin_varint(self, preferred: str) -> str:
        """Emit the reading of a whole varint, possibly from two chunks; return its variable."""
        name, emit = self.source.name(preferred), self.source.emit
        self.see()
        emit(f"{name} = b[p]")
        emit("p += 1")
        with self.source.block(f"if {name} > 127:"):  # two bytes are common enough for no call
            emit(f"if p < n and b[p] < 128: {name}, p = {name} - 128 + (b[p] << 7), p + 1")
            emit(f"else: {name}, b, p, n, a = yield from uvarint({name}, b, p, n, a)")
        return name

    def end_varint(self, name: str) -> None:
        """Do nothing: `begin_varint` reads the varint to its end."""

    def length(self, node: Node, path: str) -> tuple[str, str]:
        """Emit the reading of a length or count.

        Return the expressions of whether it means null, and of the length.
        """
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
        """Raise AssertionError: no structure before a tail may be null."""
        raise AssertionError(path)
