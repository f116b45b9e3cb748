"""Writes the source of a decoder: what to emit for each kind of field of a layout.

See `barnabas.specs.codec.decoder` for what a decoder is and what it leaves to the careful reader.
"""

from __future__ import annotations

import struct

from barnabas.specs.codec.budget import BUDGET, WIDE, TooLarge, element_cost, tag_cost
from barnabas.specs.codec.codegen import CHARS, Source, dict_of, size_of, uuid_of, variable
from barnabas.specs.codec.fixed_runs import FixedRun, is_fixed
from barnabas.specs.codec.irregular import Irregular, uvarint_from
from barnabas.specs.codec.wanted import Wanted, prune
from barnabas.specs.layout import Layout, Node, Slot


class DecoderEmitter:
    """A decoder under construction: what is emitted reads from `b` at `p`, which ends at `n`.

    Fixed-size fields gather in a run and are read together when something else needs the position.
    One that is `charged` has `q` bytes of memory left, see `barnabas.specs.codec.budget`. One that is
    `partial` reads some fields only, and may stop behind the last of them.
    """

    remaining = "n - p"
    """The expression of how many bytes are left of the body."""
    position = "p"
    """The expression of the position in the body."""

    def __init__(self, partial: bool, locating: bool = False, charged: bool = False) -> None:
        self.source = Source(
            "b", "n", "p", "q", "places", "boxes", uvarint=uvarint_from, Irregular=Irregular
        )
        self.partial = partial
        self.locating = locating
        self.charged = charged
        self.owner = ""
        """The variable of the id of the node whose addresses come next."""
        if charged:
            self.source.constants["TooLarge"] = TooLarge
        self.run = FixedRun(self.source)

    def root(self, layout: Layout, wanted: Wanted | None) -> None:
        """Emit the whole function; one that is partial returns how many bytes it read, too."""
        emit = self.source.emit
        emit("n = len(b)")
        emit("p = 0")
        if self.charged:
            emit(f"q = {BUDGET}")
        if self.locating:
            emit("places = []")
            emit("boxes = []")
        value = self.struct(layout, wanted, "")
        self.run.flush()
        emit(f"if p {'>' if self.partial else '!='} n: raise Irregular")
        if self.locating:
            emit("return places, boxes")
        else:
            emit(f"return {value}, p" if self.partial else f"return {value}")

    def charge(self, what: str) -> None:
        """Take bytes of memory from what is left."""
        if self.charged:
            self.source.emit(f"q -= {what}")
            self.source.emit("if q < 0: raise TooLarge")

    def struct(self, layout: Layout, wanted: Wanted | None, path: str) -> str:
        """Read a structure; the expression of its dict (to be used after a flush)."""
        root, dot = not path, f"{path}." if path else ""
        parts: dict[str, str] = {}
        left = set(wanted) if wanted is not None else None
        start = ""
        for slot in layout.plain:
            if left is not None and not left and root and self.partial:
                break  # nothing more is wanted: what follows need not be walked
            if left is not None and slot.name not in left:
                self.skip(slot.node, dot + slot.name)
                continue
            if left is not None:
                left.discard(slot.name)
            if self.locating and slot.name == "host":
                self.run.flush()
                start = self.source.name("start")
                self.source.emit(f"{start} = p")
            parts[slot.name] = self.value(slot.node, wanted and wanted[slot.name], dot + slot.name)
            if self.locating and slot.name == "port":
                self.run.flush()
                place = f"{self.owner}, {parts['host']}, {parts['port']}, {start}, p"
                self.source.emit(f"places.append(({place}))")
            elif self.locating and slot.name != "host" and slot.node.kind in CHARS:
                self.owner = parts[slot.name]
        if not layout.flexible or (root and left is not None and not left and self.partial):
            return dict_of(parts)
        return self.tags(layout, wanted, left, parts, path)

    def tags(
        self,
        layout: Layout,
        wanted: Wanted | None,
        left: set[str] | None,
        parts: dict[str, str],
        path: str,
    ) -> str:
        """Read a tagged section into the structure in front of it; the structure's expression."""
        emit, block = self.source.emit, self.source.block
        known = [slot for slot in layout.tagged if left is None or slot.name in left]
        count = self.begin_varint(f"{variable(path)}_tags")
        for slot in known:
            default = prune(slot.fresh_default(), wanted and wanted[slot.name])
            parts[slot.name] = self.source.literal(default)
        value = ""
        if wanted != {}:
            value = self.source.name(variable(path))
            ordered = {s.name: parts[s.name] for s in layout.slots if s.name in parts}
            emit(f"{value} = {dict_of(ordered)}")
        with block(f"if {count}:"):
            self.end_varint(count)
            emit(f"if {count} > {self.remaining}: raise Irregular")
            self.charge(f"{count} * {tag_cost(known)}")
            with block(f"for _ in range({count}):"):
                self.tag(known, layout, value, wanted, f"{path}." if path else "")
        return value

    def begin_varint(self, wanted: str) -> str:
        """Read the first byte of an unsigned varint, with the run in front of it; its variable."""
        name = self.run.read("B", wanted)
        self.run.flush()
        return name

    def end_varint(self, name: str) -> None:
        """Read the rest of a varint of which the first byte is read."""
        self.source.emit(f"if {name} > 127: {name}, p = uvarint(b, p - 1)")

    def varint(self, wanted: str) -> str:
        """Read an unsigned varint; its variable."""
        name = self.begin_varint(wanted)
        self.end_varint(name)
        return name

    def tag(
        self, known: list[Slot], layout: Layout, value: str, wanted: Wanted | None, dot: str
    ) -> None:
        """Read one tagged field into the structure."""
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
                item = self.value(slot.node, wanted and wanted[slot.name], dot + slot.name)
                self.run.flush()
                emit(f"{value}[{slot.name!r}] = {item}")
                emit(f"if {self.position} != {end}: raise Irregular")
            branch = "elif"
        for slot in layout.tagged if self.partial else ():
            if slot not in known:  # read it all the same: Kafka goes by what it holds, not its size
                with block(f"{branch} {number} == {slot.tag}:"):
                    self.skip(slot.node, dot + slot.name)
                    self.run.flush()
                    emit(f"if {self.position} != {end}: raise Irregular")
                branch = "elif"
        with block("else:" if branch == "elif" else "if True:"):
            for foreign in sorted(layout.foreign_tags):
                emit(f"if {number} == {foreign}: raise Irregular")
            if wanted is None:
                self.charge(size)
                emit(f"{value}.setdefault('_tags', {{}})[{number}] = b[p:{end}]")
            emit(f"p += {size}")

    def announced(self, node: Node, path: str) -> tuple[str, bool]:
        """Put a length or count into the run; its variable, and whether it is alone there."""
        wanted = f"{variable(path)}_{'count' if node.kind == 'array' else 'size'}"
        alone = not self.run.fields and self.run.ahead is None
        char = "B" if node.compact else CHARS[node.length_kind]
        return self.run.read(char, wanted, path if alone else ""), alone

    def length(self, node: Node, path: str) -> tuple[str, str]:
        """Read a length or count; the expressions of whether it stands for null, and of itself."""
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
        """Read what stands in front of a nullable structure; the condition that it is not null."""
        marker = self.run.read("b", f"{variable(path)}_marker")
        self.run.flush()
        self.source.comment([path])
        if not node.tagged:
            return f"if {marker} >= 0:"
        self.source.emit(f"if not 0 <= {marker} <= 1: raise Irregular")
        return f"if {marker}:"

    def value(self, node: Node, wanted: Wanted | None, path: str) -> str:
        """Read a value; the expression that stands for it (to be used after a flush)."""
        emit, block = self.source.emit, self.source.block
        if node.kind in CHARS:
            name = self.run.read(CHARS[node.kind], variable(path), path)
            return (
                f"{self.source.constant('uuid', uuid_of)}({name})" if node.kind == "uuid" else name
            )
        if node.kind == "struct":
            assert node.struct is not None  # noqa: S101
            if not node.nullable:
                return self.struct(node.struct, wanted, path)
            value = self.source.name(variable(path))
            emit(f"{value} = None")
            with block(self.present(node, path)):
                inner = self.struct(node.struct, wanted, path)
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
            self.content(node, wanted, value, length, path)
            return value
        with block(f"if {null}:"):
            emit(f"{value} = None")
        with block("else:"):
            self.content(node, wanted, value, length, path)
        return value

    def content(
        self, node: Node, wanted: Wanted | None, value: str, length: str, path: str
    ) -> None:
        """Read what stands behind a length or count that is not null's."""
        emit = self.source.emit
        if node.kind == "array":
            assert node.element is not None  # noqa: S101
            self.items(node.element, wanted, value, length, path)
            return
        end = self.source.name(f"{variable(path)}_end")
        self.charge(f"{WIDE if node.kind == 'string' else 1} * ({length})")
        emit(f"{end} = p + {length}")
        # a host that is located may be any bytes: it is replaced whatever it says
        text = node.kind == "string" and not self.locating
        emit(f"{value} = b[p:{end}]{'.decode()' if text else ''}")
        emit(f"p = {end}")

    def items(
        self, element: Node, wanted: Wanted | None, value: str, count: str, path: str
    ) -> None:
        """Read the elements of an array into a list."""
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
        self.charge(f"({count}) * {element_cost(element, wanted)}")
        emit(f"{value} = []")
        with block(f"for _ in range({count}):"):
            item = self.value(element, wanted, f"{path}[]")
            self.run.flush()
            emit(f"{value}.append({item})")

    def skip(self, node: Node, path: str) -> None:
        """Pass over a value that is not wanted."""
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
