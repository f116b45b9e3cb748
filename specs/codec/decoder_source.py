"""Writes the source of a decoder: the code for each kind of field of a layout.

See `barnabas.specs.codec.decoder` for what a decoder does and what it leaves to the careful decoder.
"""

from __future__ import annotations

import struct

from barnabas.specs.codec.budget import BUDGET, WIDE, TooLarge, element_cost, tag_cost
from barnabas.specs.codec.codegen import CHARS, Source, dict_of, size_of, uuid_of, variable
from barnabas.specs.codec.fixed_runs import FixedRun, is_fixed
from barnabas.specs.codec.irregular import Irregular, uvarint_from
from barnabas.specs.codec.selection import Selection, prune
from barnabas.specs.layout import Layout, Node, Slot


class DecoderEmitter:
    """A decoder under construction. The generated code reads from `b` at `p`; `n` is the end of the body.

    Each method emits code that reads something, and returns the expression or variable with its value.
    Fixed-size fields gather in a run, and are read together when the position is needed. A `charged` decoder
    has `q` bytes of memory left, see `barnabas.specs.codec.budget`. A `partial` decoder reads some fields
    only, and may stop after the last of them.
    """

    remaining = "n - p"
    """The expression for the number of remaining bytes of the body."""
    position = "p"
    """The expression for the offset in the body."""

    def __init__(self, partial: bool, locating: bool = False, charged: bool = False) -> None:
        self.source = Source(
            "b", "n", "p", "q", "places", "boxes", uvarint=uvarint_from, Irregular=Irregular
        )
        self.partial = partial
        self.locating = locating
        self.charged = charged
        self.owner = ""
        """The variable with the id of the node whose address comes next."""
        if charged:
            self.source.constants["TooLarge"] = TooLarge
        self.run = FixedRun(self.source)

    def root(self, layout: Layout, selected: Selection | None) -> None:
        """Emit the whole function; a partial decoder also returns the number of bytes read."""
        emit = self.source.emit
        emit("n = len(b)")
        emit("p = 0")
        if self.charged:
            emit(f"q = {BUDGET}")
        if self.locating:
            emit("places = []")
            emit("boxes = []")
        value = self.struct(layout, selected, "")
        self.run.flush()
        emit(f"if p {'>' if self.partial else '!='} n: raise Irregular")
        if self.locating:
            emit("return places, boxes")
        else:
            emit(f"return {value}, p" if self.partial else f"return {value}")

    def charge(self, amount: str) -> None:
        """Emit a subtraction from the remaining memory budget."""
        if self.charged:
            self.source.emit(f"q -= {amount}")
            self.source.emit("if q < 0: raise TooLarge")

    def struct(self, layout: Layout, selected: Selection | None, path: str) -> str:
        """Emit the reading of a structure; return the expression of its dict, valid after a flush."""
        root, dot = not path, f"{path}." if path else ""
        parts: dict[str, str] = {}
        missing = set(selected) if selected is not None else None
        start = ""
        for slot in layout.plain:
            if missing is not None and not missing and root and self.partial:
                break  # no selected field remains: the following fields need not be walked
            if missing is not None and slot.name not in missing:
                self.skip(slot.node, dot + slot.name)
                continue
            if missing is not None:
                missing.discard(slot.name)
            if self.locating and slot.name == "host":
                self.run.flush()
                start = self.source.name("start")
                self.source.emit(f"{start} = p")
            parts[slot.name] = self.value(
                slot.node, selected and selected[slot.name], dot + slot.name
            )
            if self.locating and slot.name == "port":
                self.run.flush()
                address = f"{self.owner}, {parts['host']}, {parts['port']}, {start}, p"
                self.source.emit(f"places.append(({address}))")
            elif self.locating and slot.name != "host" and slot.node.kind in CHARS:
                self.owner = parts[slot.name]
        if not layout.flexible or (root and missing is not None and not missing and self.partial):
            return dict_of(parts)
        return self.tags(layout, selected, missing, parts, path)

    def tags(
        self,
        layout: Layout,
        selected: Selection | None,
        missing: set[str] | None,
        parts: dict[str, str],
        path: str,
    ) -> str:
        """Emit the reading of a tagged section into the preceding structure; return its expression."""
        emit, block = self.source.emit, self.source.block
        known = [slot for slot in layout.tagged if missing is None or slot.name in missing]
        count = self.begin_varint(f"{variable(path)}_tags")
        for slot in known:
            default = prune(slot.fresh_default(), selected and selected[slot.name])
            parts[slot.name] = self.source.literal(default)
        value = ""
        if selected != {}:
            value = self.source.name(variable(path))
            ordered = {s.name: parts[s.name] for s in layout.slots if s.name in parts}
            emit(f"{value} = {dict_of(ordered)}")
        with block(f"if {count}:"):
            self.end_varint(count)
            emit(f"if {count} > {self.remaining}: raise Irregular")
            self.charge(f"{count} * {tag_cost(known)}")
            with block(f"for _ in range({count}):"):
                self.tag(known, layout, value, selected, f"{path}." if path else "")
        return value

    def begin_varint(self, preferred: str) -> str:
        """Emit the reading of the run and a varint's first byte; return the varint's variable."""
        name = self.run.read("B", preferred)
        self.run.flush()
        return name

    def end_varint(self, name: str) -> None:
        """Emit the reading of a varint's remaining bytes."""
        self.source.emit(f"if {name} > 127: {name}, p = uvarint(b, p - 1)")

    def varint(self, preferred: str) -> str:
        """Emit the reading of an unsigned varint; return its variable."""
        name = self.begin_varint(preferred)
        self.end_varint(name)
        return name

    def tag(
        self, known: list[Slot], layout: Layout, value: str, selected: Selection | None, dot: str
    ) -> None:
        """Emit the reading of one tagged field into the structure."""
        emit, block = self.source.emit, self.source.block
        number = self.varint("tag")
        start, end = self.source.name("start"), self.source.name("end")
        if self.locating:
            emit(f"{start} = p")
        size = self.varint("size")
        emit(f"{end} = {self.position} + {size}")
        branch = "if"
        for slot in known:
            with block(f"{branch} {number} == {slot.tag}:"):
                if self.locating:
                    emit(f"boxes.append(({start}, p, {end}))")
                item = self.value(slot.node, selected and selected[slot.name], dot + slot.name)
                self.run.flush()
                emit(f"{value}[{slot.name!r}] = {item}")
                emit(f"if {self.position} != {end}: raise Irregular")
            branch = "elif"
        for slot in layout.tagged if self.partial else ():
            if slot not in known:  # read it anyway: Kafka uses its contents, not its size
                with block(f"{branch} {number} == {slot.tag}:"):
                    self.skip(slot.node, dot + slot.name)
                    self.run.flush()
                    emit(f"if {self.position} != {end}: raise Irregular")
                branch = "elif"
        with block("else:" if branch == "elif" else "if True:"):
            for foreign in sorted(layout.foreign_tags):
                emit(f"if {number} == {foreign}: raise Irregular")
            if selected is None:
                self.charge(size)
                emit(f"{value}.setdefault('_tags', {{}})[{number}] = b[p:{end}]")
            emit(f"p += {size}")

    def announced(self, node: Node, path: str) -> tuple[str, bool]:
        """Put a length or count into the run; return its variable, and whether the run has no other field."""
        preferred = f"{variable(path)}_{'count' if node.kind == 'array' else 'size'}"
        alone = not self.run.fields and self.run.ahead is None
        char = "B" if node.compact else CHARS[node.length_kind]
        return self.run.read(char, preferred, path if alone else ""), alone

    def length(self, node: Node, path: str) -> tuple[str, str]:
        """Emit the reading of a length or count.

        Return the expressions of whether it means null, and of the length.
        """
        length, alone = self.announced(node, path)
        self.run.flush()
        if not alone:
            self.source.comment([path])
        if not node.compact:
            return f"{length} < 0", length
        more, emit = self.source.name("more"), self.source.emit
        with self.source.block(f"if {length} > 127:"):
            emit(f"{more} = b[p]")  # two bytes are common enough for no call
            with self.source.block(f"if {more} < 128:"):
                emit(f"{length} += ({more} << 7) - 128")
                emit("p += 1")
            emit(f"else: {length}, p = uvarint(b, p - 1)")
            if node.kind == "string":
                emit(f"if {length} > 32768: raise Irregular")
        return f"not {length}", f"{length} - 1"

    def present(self, node: Node, path: str) -> str:
        """Emit the reading of a null marker; return the condition that the structure is present."""
        marker = self.run.read("b", f"{variable(path)}_marker")
        self.run.flush()
        self.source.comment([path])
        if not node.tagged:
            return f"if {marker} >= 0:"
        self.source.emit(f"if not 0 <= {marker} <= 1: raise Irregular")
        return f"if {marker}:"

    def value(self, node: Node, selected: Selection | None, path: str) -> str:
        """Emit the reading of a value; return its expression, valid after a flush."""
        emit, block = self.source.emit, self.source.block
        if node.kind in CHARS:
            name = self.run.read(CHARS[node.kind], variable(path), path)
            return (
                f"{self.source.constant('uuid', uuid_of)}({name})" if node.kind == "uuid" else name
            )
        if node.kind == "struct":
            assert node.struct is not None  # noqa: S101
            if not node.nullable:
                return self.struct(node.struct, selected, path)
            value = self.source.name(variable(path))
            emit(f"{value} = None")
            with block(self.present(node, path)):
                inner = self.struct(node.struct, selected, path)
                self.run.flush()
                emit(f"{value} = {inner}")
            return value
        if node.element is not None and is_fixed(node.element) and not node.nullable:
            size, _ = self.announced(node, path)
            cost = element_cost(node.element, None) if self.charged else 0
            char, shift = CHARS[node.element.kind], int(node.compact)
            return self.run.read_array(char, size, shift, path, cost)
        value = self.source.name(variable(path))
        null, length = self.length(node, path)
        if not node.nullable:
            emit(f"if {null}: raise Irregular")
            self.content(node, selected, value, length, path)
            return value
        with block(f"if {null}:"):
            emit(f"{value} = None")
        with block("else:"):
            self.content(node, selected, value, length, path)
        return value

    def content(
        self, node: Node, selected: Selection | None, value: str, length: str, path: str
    ) -> None:
        """Emit the reading of the contents after a length or count that does not mean null."""
        emit = self.source.emit
        if node.kind == "array":
            assert node.element is not None  # noqa: S101
            self.items(node.element, selected, value, length, path)
            return
        end = self.source.name(f"{variable(path)}_end")
        self.charge(f"{WIDE if node.kind == 'string' else 1} * ({length})")
        emit(f"{end} = p + {length}")
        # a located host may be any bytes, as it is replaced
        text = node.kind == "string" and not self.locating
        emit(f"{value} = b[p:{end}]{'.decode()' if text else ''}")
        emit(f"p = {end}")

    def items(
        self, element: Node, selected: Selection | None, value: str, count: str, path: str
    ) -> None:
        """Emit the reading of an array's elements into a list."""
        emit, block = self.source.emit, self.source.block
        if is_fixed(element):
            char = CHARS[element.kind]
            emit(f"if {count} > n - p: raise Irregular")
            self.charge(f"({count}) * {element_cost(element, None)}")
            unpack = self.source.constant("unpack_many", struct.unpack_from)
            emit(f"{value} = [*{unpack}(f'>{{{count}}}{char}', b, p)]")
            emit(f"p += ({count}) * {size_of(char)}")
            return
        emit(f"if {count} > n - p: raise Irregular")
        self.charge(f"({count}) * {element_cost(element, selected)}")
        emit(f"{value} = []")
        with block(f"for _ in range({count}):"):
            item = self.value(element, selected, f"{path}[]")
            self.run.flush()
            emit(f"{value}.append({item})")

    def skip(self, node: Node, path: str) -> None:
        """Emit code that skips a value that is not selected."""
        emit, block = self.source.emit, self.source.block
        if node.kind in CHARS:
            self.run.skip(size_of(CHARS[node.kind]))
        elif node.kind == "struct":
            assert node.struct is not None  # noqa: S101
            if not node.nullable:
                self.struct(node.struct, {}, path)
                return
            with block(self.present(node, path)):
                self.struct(node.struct, {}, path)
                self.run.flush()
        else:
            null, length = self.length(node, path)
            if node.kind != "array":
                emit(f"if not {null}: p += {length}")
                return
            assert node.element is not None  # noqa: S101
            if node.element.kind in CHARS:
                emit(f"if not {null}: p += ({length}) * {size_of(CHARS[node.element.kind])}")
                return
            emit(f"if {length} > {self.remaining}: raise Irregular")
            self.charge(f"max({length}, 0) * {element_cost(node.element, {})}")
            with block(f"for _ in range({length}):"):
                self.skip(node.element, f"{path}[]")
                self.run.flush()
