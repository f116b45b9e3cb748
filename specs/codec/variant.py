"""Writes decoded bodies as VARIANT, the binary JSON of Parquet and Spark, by Python source for one layout.

A value equals the JSON form of `barnabas.specs.jsonform`, without building that form. The field names of a
layout are known, so most of a VARIANT besides its values is constant. Layout:
https://github.com/apache/parquet-format/blob/master/VariantEncoding.md
"""

from __future__ import annotations

import functools
import math
import struct
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from barnabas.specs.codec.codegen import Source
from barnabas.specs.jsonform import ELISION, Blob, base64_text, uuid_text
from barnabas.specs.layout import Layout, Node

Path = tuple[str, ...]
"""The names of the fields that lead to a field, through arrays."""

Write = Callable[[dict[str, Any], Mapping[Any, str], list[str]], bytes]
"""A writer: (decoded body, names of topics by id, list for field names that no layout has) -> value. The ids
of the listed names follow those of the dictionary."""

NULL: Final = b"\x00"
TAGS: Final = "_tags"


def variant_writer(
    layout: Layout,
    origin: str,
    dictionary: Sequence[str],
    secrets: Mapping[str, str] = {},
    named: Sequence[tuple[Path, str, str]] = (),
    blob: Blob = base64_text,
) -> Write:
    """Return a function that writes bodies of a layout.

    `dictionary` has the names of fields, at least those of `names`; a name's index is its id. `secrets` are
    fields of which only the size is written, see `barnabas.specs.secrets.by_field`. `named` has (structure,
    its field with an id, name of the added field, which has the id's name or null). `blob` writes bytes
    values.
    """
    emitter = _VariantEmitter(
        dictionary, secrets, {path: (id_field, name) for path, id_field, name in named}, blob
    )
    result = emitter.struct(layout, "v", ())
    emitter.source.emit(f"return {result}")
    return emitter.source.compile("write(v, names, more):", f"variant of {origin}")


def names(layout: Layout, named: Sequence[tuple[Path, str, str]] = ()) -> frozenset[str]:
    """Return the field names in bodies of a layout, and those of objects that replace bytes.

    >>> from barnabas import specs
    >>> sorted(names(specs.api("Metadata").request.layout(1)))
    ['name', 'topics']
    """
    return frozenset((*_names(layout), *(name for _, _, name in named)))


def _names(layout: Layout) -> Iterator[str]:
    if layout.flexible:
        yield from (TAGS, *ELISION)
    for located in layout.walk():
        yield located.slot.name
        if located.slot.node.inner.kind in ("bytes", "records"):
            yield from ELISION


def metadata(dictionary: Sequence[str]) -> bytes:
    """Return the metadata of a VARIANT: the names of its fields, by id.

    >>> metadata(["a", "bc"]).hex(" ")
    '01 02 00 01 03 61 62 63'
    """
    texts = [name.encode() for name in dictionary]
    offsets = list(accumulate(map(len, texts), initial=0))
    size, char = _width(max(offsets[-1], len(texts)))
    numbers = struct.pack(f"<{len(offsets) + 1}{char}", len(texts), *offsets)
    return b"".join((bytes([1 | (size - 1) << 6]), numbers, *texts))


def members(numbers: bytes, width: int) -> Callable[[Sequence[bytes]], bytes]:
    """Return a function that makes an object of its fields' values.

    `numbers` is the number of fields and their ids, as encoded, ordered by name. `width` is the size of an id
    in bytes.
    """
    count = numbers[0]
    few = struct.Struct(f"<{count + 1}H").pack
    many = struct.Struct(f"<{count + 1}I").pack
    heads = [bytes([2 | (width - 1) << 4 | (size - 1) << 2]) + numbers for size in (1, 2, 4)]

    def made(values: Sequence[bytes]) -> bytes:
        offsets = tuple(accumulate(map(len, values), initial=0))
        total = offsets[-1]
        if total < 1 << 8:
            return b"".join((heads[0], bytes(offsets), *values))
        if total < 1 << 16:
            return b"".join((heads[1], few(*offsets), *values))
        return b"".join((heads[2], many(*offsets), *values))

    return made


pair: Final = members(b"\x02\x00\x01", 1)
"""A function that makes an object of two values, whose names are the first two of the dictionary."""


def _array(values: Sequence[bytes]) -> bytes:
    count = len(values)
    offsets = tuple(accumulate(map(len, values), initial=0))
    size, char = _width(offsets[-1])
    head = 3 | (size - 1) << 2
    large = count >= 1 << 8
    start = struct.pack("<BI", head | 1 << 4, count) if large else bytes((head, count))
    return b"".join((start, struct.pack(f"<{count + 1}{char}", *offsets), *values))


def _width(most: int) -> tuple[int, str]:
    """Return the number of bytes that numbers up to this one take, and their struct format."""
    return (1, "B") if most < 1 << 8 else (2, "H") if most < 1 << 16 else (4, "I")


class _VariantEmitter:
    def __init__(
        self,
        dictionary: Sequence[str],
        secrets: Mapping[str, str],
        named: dict[Path, tuple[str, str]],
        blob: Blob,
    ) -> None:
        self._ids = {name: number for number, name in enumerate(dictionary)}
        self._width = _width(len(dictionary) - 1)[0]
        self._secrets = secrets
        self._structs: dict[str, str] = {}
        """The variable of each structure that is being written, by its path."""
        self._named = named
        written = functools.partial(_blob, blob, self._ids, self._width)
        self.source = Source(
            "v",
            "names",
            "more",
            text=_text,
            blob=written,
            double=_double,
            uuid=_uuid,
            secret=_secret,
            array=_array,
            number=_number,
            small=_SMALL.get,
            NULL=NULL,
            TRUE=b"\x04",
            FALSE=b"\x08",
            tags=functools.partial(_tags, len(self._ids), written),
        )

    def struct(self, layout: Layout, value: str, path: Path) -> str:
        """Return the expression of a structure that is in a variable."""
        self._structs[".".join(path)] = value
        parts = {}
        for slot in layout.slots:
            parts[slot.name] = self._value(slot.node, f"{value}[{slot.name!r}]", (*path, slot.name))
        if path in self._named:
            id_field, name = self._named[path]
            variable = self.source.name(name)
            known = f"({variable} := names.get({value}[{id_field!r}]))"
            parts[name] = f"(NULL if {known} is None else text({variable}))"
        order = sorted(parts)
        rows = "".join(f"# {'.'.join((*path, name))}\n{parts[name]},\n" for name in order)
        inner = f"(\n{textwrap.indent(rows, '    ')})" if parts else "()"
        make = self._members(order)
        if not layout.flexible:
            return f"{make}({inner})"
        tagged = sorted([*order, TAGS])
        at = tagged.index(TAGS)
        variable = self.source.name(f"{path[-1] if path else 'body'}_values")
        with_tags = self._members(tagged)
        more = f"(*{variable}[:{at}], tags({value}['{TAGS}'], more), *{variable}[{at}:])"
        return (
            f"({make}({inner}) if '{TAGS}' not in {value}"
            f" else ({variable} := {inner}) and {with_tags}({more}))"
            if parts
            else f"({make}(()) if '{TAGS}' not in {value} else"
            f" {with_tags}((tags({value}['{TAGS}'], more),)))"
        )

    def _members(self, order: Sequence[str]) -> str:
        """Return the name of the function that makes an object with fields of these names."""
        ids = b"".join(self._ids[name].to_bytes(self._width, "little") for name in order)
        name = self.source.name("object")
        self.source.constants[name] = members(bytes([len(order)]) + ids, self._width)
        return name

    def _value(self, node: Node, value: str, path: Path) -> str:
        flag = self._secrets.get(".".join(path))
        if flag == "":
            return f"secret({value})"
        if flag is None:
            return self._plain(node, value, path)
        holder, _, name = flag.rpartition(".")
        plain = self._plain(node, value, path)
        return f"(secret({value}) if {self._structs[holder]}[{name!r}] else {plain})"

    def _plain(self, node: Node, value: str, path: Path) -> str:
        """Return the expression of a value that is not a secret."""
        variable = self.source.name(path[-1])
        match node.kind:
            case "string":
                simple = f"text({variable})"
            case "bytes" | "records":
                simple = f"blob({variable})"
            case "array":
                assert node.element is not None  # noqa: S101
                item = self.source.name(f"{path[-1]}_item")
                inner = self._value(node.element, item, path)
                simple = f"array([{inner} for {item} in {variable}])"
            case "struct":
                assert node.struct is not None  # noqa: S101
                simple = self.struct(node.struct, variable, path)
            case "bool":
                return f"(TRUE if {value} else FALSE)"
            case "uuid":
                return f"uuid({value})"
            case "float64":
                return f"double({value})"
            case _:
                return f"(small({variable} := {value}) or number({variable}))"
        return f"(NULL if ({variable} := {value}) is None else {simple})"


def _number(value: int) -> bytes:
    """Return an integer in the fewest bytes."""
    if -1 << 7 <= value < 1 << 7:
        return struct.pack("<Bb", 3 << 2, value)
    if -1 << 15 <= value < 1 << 15:
        return struct.pack("<Bh", 4 << 2, value)
    if -1 << 31 <= value < 1 << 31:
        return struct.pack("<Bi", 5 << 2, value)
    return struct.pack("<Bq", 6 << 2, value)


_SMALL: Final = {number: _number(number) for number in range(-8, 1024)}
"""Encodings of the most frequent numbers."""


def _text(value: str) -> bytes:
    return _string(value.encode())


def _string(text: bytes) -> bytes:
    size = len(text)
    if size < 1 << 6:
        return bytes((1 | size << 2,)) + text
    return struct.pack("<BI", 16 << 2, size) + text


def _blob(blob: Blob, ids: Mapping[str, int], width: int, value: bytes) -> bytes:
    written = blob(value)
    if isinstance(written, str):
        return _string(written.encode())
    order = sorted(written)
    numbers = b"".join(ids[name].to_bytes(width, "little") for name in order)
    fields = map(written.get, order)
    inner = [_text(field) if isinstance(field, str) else _number(field) for field in fields]
    return members(bytes([len(order)]) + numbers, width)(inner)


def _uuid(value: Any) -> bytes:
    return _text(uuid_text(value))


def _double(value: float) -> bytes:
    """Return a double. JSON has no number for NaN and infinity, which quotas may have: they are text."""
    return struct.pack("<Bd", 7 << 2, value) if math.isfinite(value) else _text(str(value))


def _secret(value: Any) -> bytes:
    """Return a secret as `barnabas.specs.secrets.redact` does."""
    match value:
        case None:
            return NULL
        case list():
            return _array([_secret(item) for item in value])
        case bytes():
            return _text(f"<redacted {len(value)} bytes>")
    return _text("<redacted>")


def _tags(
    first_id: int, written: Callable[[bytes], bytes], tags: Mapping[int, bytes], more: list[str]
) -> bytes:
    """Return unknown tagged fields as an object; their numbers are its field names."""
    values = {}
    for number, value in tags.items():
        values[str(number)] = first_id + len(more), written(value)
        more.append(str(number))
    order = sorted(values)
    ids = [values[name][0] for name in order]
    size, char = _width(max(ids, default=0))
    inner = [values[name][1] for name in order]
    if len(order) < 1 << 8:
        return members(bytes([len(order)]) + struct.pack(f"<{len(ids)}{char}", *ids), size)(inner)
    offsets = list(accumulate(map(len, inner), initial=0))
    head = struct.pack("<BI", 2 | 1 << 6 | (size - 1) << 4 | 3 << 2, len(ids))
    rest = struct.pack(f"<{len(ids)}{char}", *ids), struct.pack(f"<{len(offsets)}I", *offsets)
    return b"".join((head, *rest, *inner))
