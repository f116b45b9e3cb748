"""Writing Python source: lines, indentation, fresh names and constants, and runs of fixed fields.

Fixed-size fields that stand side by side (and the length in front of what follows them) are read or
written by one struct call; that is most of a generated codec's speed.
"""

from __future__ import annotations

import functools
import struct
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

CHARS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
"""The struct format of each fixed-size kind."""

FEW = 32
"""Arrays of fewer fixed-size elements than this are read and written by structs made beforehand."""


class Source:
    """A function under construction."""

    def __init__(self, **constants: Any) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, Any] = dict(constants)
        self.depth = 1
        self.serial = 0

    def name(self, prefix: str) -> str:
        """A name that is not used yet."""
        self.serial += 1
        return f"{prefix}{self.serial}"

    def constant(self, prefix: str, value: Any) -> str:
        """The name of a constant of the function; struct methods, and tuples of them, share one."""
        if callable(value) or isinstance(value, tuple):
            self.constants.setdefault(prefix, value)
            return prefix
        name = self.name(prefix)
        self.constants[name] = value
        return name

    def emit(self, line: str) -> None:
        """Add a line at the present indentation."""
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def block(self, line: str) -> Iterator[None]:
        """A line that opens a block, and what is emitted inside it."""
        self.emit(line)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1

    def text(self, signature: str) -> str:
        """The function's source; constants are bound as defaults, which makes them locals."""
        bound = "".join(f", {name}={name}" for name in self.constants)
        return f"def {signature[:-2]}{bound}):\n" + "\n".join(self.lines) + "\n"

    def compile(self, signature: str, origin: str) -> Callable[..., Any]:
        """The function, e.g. of the signature `decode(b):`."""
        namespace = dict(self.constants)
        exec(compile(self.text(signature), f"<{origin}>", "exec"), namespace)  # noqa: S102
        function = namespace[signature.partition("(")[0]]
        assert callable(function)  # noqa: S101
        return function  # type: ignore[no-any-return]


def fixed_name(kind: str, chars: str) -> str:
    """A legible name for a struct method: the format's letters behind the kind of method.

    >>> fixed_name("unpack", ">ih16s")
    'unpack_ih16s'
    """
    return f"{kind}_{chars.lstrip('>').replace('?', 'o')}"


def size_of(chars: str) -> int:
    """The size in bytes of a big-endian struct format."""
    return struct.calcsize(">" + chars)


@functools.lru_cache(maxsize=4096)
def uuid_of(raw: bytes) -> uuid.UUID:
    """A uuid. Topic ids come again and again, and making one takes as long as a dozen other fields."""
    return uuid.UUID(bytes=raw)


@functools.cache
def few_unpackers(char: str, tail: str, shift: int) -> tuple[Callable[..., tuple[Any, ...]], ...]:
    """What reads 0, 1, 2 ... fields of a kind and those of the tail behind them.

    With a shift of 1 they are found one place further on, and what stands for null raises IndexError.
    """
    counts = range(FEW - shift)
    found = tuple(struct.Struct(f">{count}{char}{tail}").unpack_from for count in counts)
    return (_null, *found) if shift else found


def _null(_data: bytes, _at: int) -> tuple[Any, ...]:
    raise IndexError("null")


@functools.cache
def few_packers(counter: str, char: str) -> tuple[Callable[..., bytes], ...]:
    """What writes 0, 1, 2 ... fields of a kind behind their count."""
    return tuple(struct.Struct(f">{counter}{count}{char}").pack for count in range(FEW))
