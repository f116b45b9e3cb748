"""Runs of fixed-size fields in a decoder's source, read by one struct call.

An array of fixed-size elements may precede a run; it is read together with the run.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from barnabas.specs.codec.codegen import (
    CHARS,
    FEW,
    Fixed,
    Source,
    few_unpackers,
    fixed_name,
    size_of,
    variable,
)
from barnabas.specs.layout import Node

USUAL = (3, 0)
"""Lengths of arrays that are read without an intermediate list: three replicas, no offline replicas."""


class Ahead(NamedTuple):
    """The array before the run: its elements' format, and the variables of its length and list."""

    char: str
    length: str
    shift: int
    """1 if the length is encoded as length + 1 (compact; 0 means null), else 0."""
    value: str
    cost: int
    """The charge for each element (`barnabas.specs.codec.budget`); 0: no charge."""
    path: str


def is_fixed(element: Node) -> bool:
    """Return whether an array of these is read as a whole. Uuids are not: each needs a call."""
    return element.kind in CHARS and element.kind != "uuid"


class FixedRun:
    """The fields that wait to be read at `p`, in a function with `b`, `p` and `n`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.fields: list[Fixed] = []
        self.ahead: Ahead | None = None

    def read(self, char: str, preferred: str, path: str = "") -> str:
        """Add a field to the run and return its variable, which is set when the run is flushed."""
        name = self.source.name(preferred)
        self.fields.append(Fixed(char, name, path))
        return name

    def skip(self, size: int) -> None:
        """Add bytes to skip to the run."""
        self.fields.append(Fixed(f"{size}x", ""))

    def read_array(self, char: str, length: str, shift: int, path: str, cost: int = 0) -> str:
        """Start a new run after an array of known length, and return the variable of the array's list."""
        self.flush()
        self.ahead = Ahead(char, length, shift, self.source.name(variable(path)), cost, path)
        return self.ahead.value

    def flush(self) -> None:
        """Emit the code that reads the run; its variables are set from here on."""
        fields, self.fields = self.fields, []
        ahead, self.ahead = self.ahead, None
        paths = [each.path for each in (*([ahead] if ahead else ()), *fields) if each.path]
        if paths:
            self.source.comment(paths)
        if ahead is not None:
            self._array(ahead, fields)
        elif fields:
            self._take(fields)

    def _take(self, fields: list[Fixed]) -> None:
        chars = "".join(field.char for field in fields)
        named = [(i, field) for i, field in enumerate(fields) if field.name]
        if len(named) == 1 and named[0][1].char == "B":  # a lone length or count: no call for it
            i, lone = named[0]
            before = size_of("".join(field.char for field in fields[:i]))
            self.source.emit(f"{lone.name} = b[{f'p + {before}' if before else 'p'}]")
        elif named:
            unpack = self.source.constant(
                fixed_name("unpack", chars), struct.Struct(">" + chars).unpack_from
            )
            names = ", ".join(field.name for _, field in named)
            self.source.emit(f"{names}, = {unpack}(b, p)")
        if chars:
            self.source.emit(f"p += {size_of(chars)}")

    def _array(self, ahead: Ahead, fields: list[Fixed]) -> None:
        emit, block = self.source.emit, self.source.block
        char, length, shift, value, cost, path = ahead
        if cost:
            emit(f"q -= ({length} - {shift}) * {cost} if {length} < {FEW} else 0")
            emit("if q < 0: raise TooLarge")
        branch = "if"
        for number in USUAL:
            items = [Fixed(char, self.source.name(variable(f"{path}[]"))) for _ in range(number)]
            with block(f"{branch} {length} == {number + shift}:"):
                self._take(items + fields)
                emit(f"{value} = [{', '.join(item.name for item in items)}]")
            branch = "elif"
        with block("else:"):
            self._array_of_any_length(ahead, fields)

    def _array_of_any_length(self, ahead: Ahead, fields: list[Fixed]) -> None:
        emit, block = self.source.emit, self.source.block
        char, length, shift, value, cost, _ = ahead
        tail = "".join(field.char for field in fields)
        few = self.source.constant(
            fixed_name("few" if shift else "few_classic", f"{char}_{tail}"),
            few_unpackers(char, tail, shift),
        )
        many = self.source.constant("unpack_many", struct.unpack_from)
        with block(f"if {'' if shift else '0 <= '}{length} < {FEW}:"):
            emit(f"{value} = [*{few}[{length}](b, p)]")
        with block("else:"):
            if shift:
                emit(f"if {length} > 127: {length}, p = uvarint(b, p - 1)")
            number = f"{length} - {shift}" if shift else length
            emit(f"if not 0 <= {number} <= n - p: raise Irregular")
            if cost:
                emit(f"q -= ({number}) * {cost}")
                emit("if q < 0: raise TooLarge")
            emit(f"{value} = [*{many}(f'>{{{number}}}{char}{tail}', b, p)]")
        for field in reversed(fields):  # twice as fast as unpacking into a starred target
            if field.name:
                emit(f"{field.name} = {value}.pop()")
        emit(f"p += ({length} - {shift}) * {size_of(char)} + {size_of(tail)}")
