"""Writes readable Python source: lines, names of fields, constants, and runs of fixed-size fields.

Consecutive fixed-size fields (and the length of the next field) are read or written by one struct call; most
of a generated codec's speed comes from that.

A variable has the name of its field, and a comment gives the field's path: `topics[].name` is a field of each
element. The source is in `linecache`, so tracebacks and debuggers show its lines.
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
"""Arrays with fewer fixed-size elements than this are read and written by prepared structs."""


TAKEN = frozenset((*keyword.kwlist, "_", "len", "max", "range", "ValueError"))
"""Names that no variable may have, since generated functions use them."""


class Fixed(NamedTuple):
    """A field of a run: its struct format, its variable or expression, and its path for the comment.

    A field without a name is skipped. A field without a path is not in the comment.
    """

    char: str
    name: str
    path: str = ""


class Source:
    """A function under construction; it keeps track of used names."""

    def __init__(self, *local: str, **constants: Any) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, Any] = dict(constants)
        self.depth = 1
        self._taken = {*TAKEN, *local, *constants}
        self._shared: dict[str, str] = {}

    def name(self, preferred: str) -> str:
        """Return an unused name: the wanted one, with a number if it is taken."""
        name, number = preferred, 1
        while name in self._taken:
            number += 1
            name = f"{preferred}_{number}"
        self._taken.add(name)
        return name

    def constant(self, preferred: str, value: Any) -> str:
        """Return the name of a constant of the function; struct methods, and tuples of them, are shared."""
        shared = callable(value) or isinstance(value, tuple)
        if shared and preferred in self._shared:
            return self._shared[preferred]
        name = self.name(preferred)
        self.constants[name] = value
        if shared:
            self._shared[preferred] = name
        return name

    def literal(self, value: Any) -> str:
        """Return an expression that makes a new copy of a default."""
        if isinstance(value, dict):
            return dict_of({name: self.literal(item) for name, item in value.items()})
        if isinstance(value, uuid.UUID):
            return self.constant("zero", value)
        return repr(value)

    def comment(self, paths: Iterable[str]) -> None:
        """Emit a comment with the fields of the next lines."""
        self.emit(f"# {joined(paths)}")

    def emit(self, line: str) -> None:
        """Add a line at the current indentation."""
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def block(self, line: str) -> Iterator[None]:
        """Emit a line that opens a block; lines emitted inside the context are in the block."""
        self.emit(line)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1

    def text(self, signature: str) -> str:
        """Return the function's source. Constants are bound as defaults, which makes them locals."""
        bound = "".join(f", {name}={name}" for name in self.constants)
        return f"def {signature[:-2]}{bound}):\n" + "\n".join(self.lines) + "\n"

    def compile(self, signature: str, origin: str) -> Callable[..., Any]:
        """Compile the function and return it. An example of a signature is `decode(b):`."""
        namespace = dict(self.constants)
        text, file = (
            self.text(signature),
            f"generated: {origin}",
        )  # linecache loads names in <> at once
        exec(compile(text, file, "exec"), namespace)  # noqa: S102
        packed = zlib.compress(text.encode(), 1)
        linecache.cache[file] = (lambda: zlib.decompress(packed).decode(),)
        function = namespace[signature.partition("(")[0]]
        assert callable(function)  # noqa: S101
        return function  # type: ignore[no-any-return]


def source_of(function: Callable[..., Any]) -> str:
    """Return the source of a function that `Source.compile` made."""
    return "".join(linecache.getlines(function.__code__.co_filename))


def dict_of(parts: Mapping[str, str]) -> str:
    """Return the expression of a dict of these expressions."""
    return "{" + ", ".join(f"{name!r}: {value}" for name, value in parts.items()) + "}"


def variable(path: str) -> str:
    """Return the name for the variable of a field; the body itself has an empty path.

    >>> variable("topics[].name"), variable("topics[]"), variable("")
    ('name', 'topics_item', 'body')
    """
    return path.rpartition(".")[2].replace("[]", "_item") or "body"


def joined(paths: Iterable[str]) -> str:
    """Return paths as one text; paths of one structure share braces.

    >>> joined(["topics[].name", "topics[].id", "error_code"])
    'topics[].{name, id}, error_code'
    """
    texts = []
    for parent, group in groupby(paths, lambda path: path.rpartition(".")[0]):
        names = [path.rpartition(".")[2] for path in group]
        together = ", ".join(names)
        texts.append(
            f"{parent}.{{{together}}}"
            if parent and len(names) > 1
            else f"{parent}.{together}".lstrip(".")
        )
    return ", ".join(texts)


def fixed_name(kind: str, chars: str) -> str:
    """Return a readable name for a struct method: the kind of method and the letters of the format.

    >>> fixed_name("unpack", ">ih16s")
    'unpack_ih16s'
    """
    return f"{kind}_{chars.lstrip('>').replace('?', 'o')}"


def size_of(chars: str) -> int:
    """Return the size in bytes of a big-endian struct format."""
    return struct.calcsize(">" + chars)


@functools.lru_cache(maxsize=4096)
def uuid_of(raw: bytes) -> uuid.UUID:
    """Return a uuid from its bytes; cached, since topic ids repeat and making one is slow."""
    return uuid.UUID(bytes=raw)


@functools.cache
def few_unpackers(char: str, tail: str, shift: int) -> tuple[Callable[..., tuple[Any, ...]], ...]:
    """Return functions that read 0, 1, 2 ... fields of a kind and the fields of the tail after them.

    If `shift` is 1, the function for n fields is at index n + 1, and the function at index 0 raises
    IndexError for null.
    """
    counts = range(FEW - shift)
    unpackers = tuple(struct.Struct(f">{count}{char}{tail}").unpack_from for count in counts)
    return (_null, *unpackers) if shift else unpackers


def _null(_data: bytes, _at: int) -> tuple[Any, ...]:
    raise IndexError("null")


@functools.cache
def few_packers(counter: str, char: str) -> tuple[Callable[..., bytes], ...]:
    """Return functions that write a count and 0, 1, 2 ... fields of a kind."""
    return tuple(struct.Struct(f">{counter}{count}{char}").pack for count in range(FEW))
