"""The fast encoder: generated Python source that writes complete, valid values of one layout.

If a value is missing, unknown or invalid, it raises one of `UNFIT`. The caller then uses
`barnabas.specs.codec.careful_encoder`, which adds defaults or names the path of the invalid value.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any

from barnabas.specs.codec.careful_encoder import ONE_BYTE, uvarint
from barnabas.specs.codec.codegen import (
    CHARS,
    FEW,
    Fixed,
    Source,
    few_packers,
    fixed_name,
    variable,
)
from barnabas.specs.layout import Layout, Node, Slot

UNFIT = (struct.error, AttributeError, TypeError, KeyError, ValueError, OverflowError)
"""Everything that a generated encoder raises."""


def encoder(layout: Layout, origin: str) -> Callable[[dict[str, Any]], bytes]:
    """Return a function that encodes a dict with exactly the fields of the layout."""
    emitter = _EncoderEmitter()
    source = emitter.source
    source.emit("out = []")
    source.emit("w = out.append")
    emitter.struct(layout, "v", "")
    emitter.flush()
    source.emit("return b''.join(out)")
    return source.compile("encode(v):", f"encode {origin}")


_uvarint = functools.lru_cache(maxsize=1024)(uvarint)
"""The same lengths occur again and again."""


class _EncoderEmitter:
    def __init__(self) -> None:
        self.source = Source("out", "w", "v", uvarint=_uvarint)
        self.run: list[Fixed] = []
        self.out = "w"

    def pack(self, run: list[Fixed]) -> str:
        """Return an expression of the run's bytes."""
        if len(run) == 1 and run[0].char == "B":  # a lone length, count or end: no call for it
            value = run[0].name
            if value.isdigit():
                return repr(ONE_BYTE[int(value)])
            return f"{self.source.constant('one_byte', ONE_BYTE)}[{value}]"
        chars = "".join(field.char for field in run)
        pack = self.source.constant(fixed_name("pack", chars), struct.Struct(">" + chars).pack)
        return f"{pack}({', '.join(field.name for field in run)})"

    def comment(self, *more: str) -> None:
        """Emit a comment with the fields of the run and further paths."""
        paths = [*(field.path for field in self.run if field.path), *more]
        if paths:
            self.source.comment(paths)
            self.run = [field._replace(path="") for field in self.run]

    def flush(self) -> None:
        if self.run:
            self.comment()
            self.source.emit(f"{self.out}({self.pack(self.run)})")
            self.run = []

    def struct(self, layout: Layout, value: str, path: str) -> None:
        # a missing or unknown field is left to the careful encoder
        self.source.emit(f"if len({value}) != {len(layout.slots)}: raise ValueError")
        dot = f"{path}." if path else ""
        for slot in layout.plain:
            self.value(slot.node, f"{value}[{slot.name!r}]", dot + slot.name)
        if not layout.flexible:
            return
        tagged = layout.tagged
        if not tagged:
            self.run.append(Fixed("B", "0"))
            return
        self.flush()
        tags = self.source.name(f"{variable(path)}_tags")
        self.source.emit(f"{tags} = []")
        for slot in tagged:
            self.tag(slot, value, tags, dot + slot.name)
        with self.source.block(f"if {tags}:"):
            self.source.emit(f"{self.out}(uvarint(len({tags})))")
            self.source.emit(f"{self.out}(b''.join({tags}))")
        with self.source.block("else:"):
            self.source.emit(f"{self.out}({ONE_BYTE[0]!r})")

    def tag(self, slot: Slot, value: str, tags: str, path: str) -> None:
        emit, block = self.source.emit, self.source.block
        item, content, inner = map(self.source.name, (variable(path), "content", "write"))
        emit(f"{item} = {value}[{slot.name!r}]")
        default = self.source.constant("default", slot.fresh_default())
        with block(f"if {item} != {default}:"):
            emit(f"{content} = []")
            emit(f"{inner} = {content}.append")
            outer, self.out = self.out, inner
            self.value(slot.node, item, path)
            self.flush()
            self.out = outer
            emit(f"{content} = b''.join({content})")
            emit(f"{tags}.append({uvarint(slot.tag or 0)!r} + uvarint(len({content})) + {content})")

    def length(
        self, length: str, compact: bool, char: str, path: str, limit: int | None = None
    ) -> None:
        """Emit the writing of a length or count together with the preceding run."""
        if not compact:
            self.run.append(Fixed(char, length))
            self.flush()
            return
        run, self.run = self.run, []
        more = self.source.name(f"{variable(path)}_length")
        self.source.emit(f"{more} = {length} + 1")
        with self.source.block(f"if {more} < 128:"):
            self.source.emit(f"{self.out}({self.pack([*run, Fixed('B', more)])})")
        with self.source.block("else:"):
            if limit is not None:
                self.source.emit(f"if {more} > {limit + 1}: raise ValueError")
            if run:
                self.source.emit(f"{self.out}({self.pack(run)})")
            self.source.emit(f"{self.out}(uvarint({more}))")

    def null(self, node: Node, char: str) -> None:
        """Emit the writing of the length that means null, with a copy of the preceding run."""
        run = [*self.run, Fixed("B", "0") if node.compact else Fixed(char, "-1")]
        self.source.emit(f"{self.out}({self.pack(run)})")

    def value(self, node: Node, expression: str, path: str) -> None:
        emit, block = self.source.emit, self.source.block
        if node.kind in CHARS:
            value = f"{expression}.bytes" if node.kind == "uuid" else expression
            self.run.append(Fixed(CHARS[node.kind], value, path))
            return
        if node.kind != "struct" or node.nullable:
            self.comment(path)
        item = expression
        if not item.isidentifier():
            item = self.source.name(variable(path))
            emit(f"{item} = {expression}")
        if node.kind == "struct":
            assert node.struct is not None  # noqa: S101
            if not node.nullable:
                self.struct(node.struct, item, path)
                return
            self.flush()
            with block(f"if {item} is None:"):
                null = b"\0" if node.tagged else b"\xff"
                emit(f"{self.out}({null!r})")
            with block("else:"):
                emit(f"{self.out}(b'\\x01')")
                self.struct(node.struct, item, path)
                self.flush()
            return
        char = CHARS[node.length_kind]
        if not node.nullable:
            self.lengthy(node, item, char, path)
            return
        before = list(self.run)
        with block(f"if {item} is None:"):
            self.null(node, char)
        with block("else:"):
            self.run = before
            self.lengthy(node, item, char, path)
            self.flush()

    def lengthy(self, node: Node, item: str, char: str, path: str) -> None:
        emit, block = self.source.emit, self.source.block
        if node.kind == "string":
            emit(f"{item} = {item}.encode()")
            self.length(f"len({item})", node.compact, char, path, limit=0x7FFF)
            emit(f"{self.out}({item})")
            return
        if node.element is not None and node.element.kind in CHARS and node.element.kind != "uuid":
            self.fixed(item, "B" if node.compact else char, CHARS[node.element.kind], path)
            return
        self.length(f"len({item})", node.compact, char, path)
        if node.kind != "array":
            emit(f"{self.out}({item})")
            return
        element = node.element
        assert element is not None  # noqa: S101
        item_name = self.source.name(variable(f"{path}[]"))
        with block(f"for {item_name} in {item}:"):
            self.value(element, item_name, f"{path}[]")
            self.flush()

    def fixed(self, item: str, counter: str, char: str, path: str) -> None:
        """Emit the writing of an array of fixed-size elements.

        A short array is written in one call with its count.
        """
        emit, block = self.source.emit, self.source.block
        count = self.source.name(f"{variable(path)}_count")
        compact = counter == "B"
        few = self.source.constant(f"few_{fixed_name(counter, char)}", few_packers(counter, char))
        many = self.source.constant("pack_many", struct.pack)
        self.flush()
        emit(f"{count} = len({item})")
        with block(f"if {count} < {FEW}:"):
            emit(f"{self.out}({few}[{count}]({count}{' + 1' if compact else ''}, *{item}))")
        with block("else:"):
            self.length(count, compact, counter, path)
            emit(f"{self.out}({many}(f'>{{{count}}}{char}', *{item}))")
