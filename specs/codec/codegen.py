"""Writing Python source to be read: lines, indentation, names of fields, constants, and runs of fixed fields.

Fixed-size fields that stand side by side (and the length in front of what follows them) are read or
written by one struct call; that is most of a generated codec's speed.

A variable has the name of its field, and a comment says the path of the field: `topics[].name` is that of
each element. The source is in `linecache`, so tracebacks and debuggers show its lines.
"""

from __future__ import annotations

import functools
import keyword
import linecache
import struct
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from typing import Any, NamedTuple

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


TAKEN = frozenset((*keyword.kwlist, "_", "len", "max", "range", "ValueError"))
"""Names that no variable may have: those of Python that generated functions use."""


class Fixed(NamedTuple):
    """A field of a run: its struct format, its variable or expression, and its path for the comment.

    Without a name it is passed over, without a path it is in no comment.
    """

    char: str
    name: str
    path: str = ""


class Source:
    """A function under construction, in which the names of locals are taken already."""

    def __init__(self, *local: str, **constants: Any) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, Any] = dict(constants)
        self.depth = 1
        self._taken = {*TAKEN, *local, *constants}
        self._shared: dict[str, str] = {}

    def name(self, wanted: str) -> str:
        """A name that is not used yet: the wanted one, or that with a number behind it."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def constant(self, wanted: str, value: Any) -> str:
        """The name of a constant of the function; struct methods, and tuples of them, share one."""
        shared = callable(value) or isinstance(value, tuple)
        if shared and wanted in self._shared:
            return self._shared[wanted]
        name = self.name(wanted)
        self.constants[name] = value
        if shared:
            self._shared[wanted] = name
        return name

    def literal(self, value: Any) -> str:
        """An expression that makes a default afresh."""
        if isinstance(value, dict):
            return dict_of({name: self.literal(item) for name, item in value.items()})
        if isinstance(value, uuid.UUID):
            return self.constant("zero", value)
        return repr(value)

    def comment(self, paths: Iterable[str]) -> None:
        """Say which fields the next lines are about."""
        self.emit(f"# {joined(paths)}")

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
        text, file = self.text(signature), f"generated: {origin}"  # in <> it could not be late
        exec(compile(text, file, "exec"), namespace)  # noqa: S102
        packed = zlib.compress(text.encode(), 1)
        linecache.cache[file] = (lambda: zlib.decompress(packed).decode(),)
        function = namespace[signature.partition("(")[0]]
        assert callable(function)  # noqa: S101
        return function  # type: ignore[no-any-return]


def source_of(function: Callable[..., Any]) -> str:
    """The source of a function that was compiled here."""
    return "".join(linecache.getlines(function.__code__.co_filename))


def dict_of(parts: Mapping[str, str]) -> str:
    """The expression of a dict of these expressions."""
    return "{" + ", ".join(f"{name!r}: {value}" for name, value in parts.items()) + "}"


def variable(path: str) -> str:
    """The name that a variable of a field should have; the body's own path is empty.

    >>> variable("topics[].name"), variable("topics[]"), variable("")
    ('name', 'topics_item', 'body')
    """
    return path.rpartition(".")[2].replace("[]", "_item") or "body"


def joined(paths: Iterable[str]) -> str:
    """Paths side by side; those of one structure in braces.

    >>> joined(["topics[].name", "topics[].id", "error_code"])
    'topics[].{name, id}, error_code'
    """
    found = []
    for parent, group in groupby(paths, lambda path: path.rpartition(".")[0]):
        names = [path.rpartition(".")[2] for path in group]
        together = ", ".join(names)
        found.append(
            f"{parent}.{{{together}}}"
            if parent and len(names) > 1
            else f"{parent}.{together}".lstrip(".")
        )
    return ", ".join(found)


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
