"""YAML with line numbers, and with checks that YAML lacks: duplicate keys, depth, size."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from operator import eq
from typing import Any, Final

import yaml

from barnabas.captures.kafka.wording import shorten
from barnabas.proxy.matching.settings import Loc

MAX_BYTES: Final = 2**20
"""The most bytes of a scenario file."""

TOO_LONG: Final = f"the file is longer than {MAX_BYTES // 2**20} MiB"

MAX_VALUES: Final = 100_000
"""The most values of a file, aliases counted each time (a few lines of them can make billions)."""

MAX_DEPTH: Final = 50
"""The deepest nesting of values."""

MAX_NUMBER: Final = 100
"""The most characters of a number: Python and YAML would take minutes to read or write a long one."""

_PLAIN: Final = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


class _Enough(Exception):
    pass


class _Loader(yaml.SafeLoader):
    """A loader that bounds nested brackets early: PyYAML would look at all of them again for each."""

    def fetch_flow_collection_start(self, token: type[yaml.Token]) -> None:
        """Read an opening bracket, unless it is nested too deep."""
        if self.flow_level > MAX_DEPTH:
            raise _Enough(f"is nested deeper than {MAX_DEPTH}")
        super().fetch_flow_collection_start(token)


@dataclass(slots=True)
class Document:
    """A document's value (lists as tuples), the line of every key and item, and its problems."""

    value: Any = None
    lines: dict[Loc, int] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)
    unread: set[Loc] = field(default_factory=set)
    """The locations of unreadable values, which are problems; the values there are None."""
    broken: bool = False
    """Whether there is no value."""

    def about_unread(self, loc: Loc) -> bool:
        """Return whether a problem at a location may only follow from an unreadable value."""
        return any(all(map(eq, loc, unread)) for unread in self.unread)

    def line(self, loc: Loc) -> int:
        """Return the line of a location, or of the nearest one around it."""
        while loc not in self.lines and loc:
            loc = loc[:-1]
        return self.lines.get(loc, 1)

    def fail(self, line: int, text: str) -> Document:
        """Add a problem after which there is no value."""
        self.problems.append((line, text))
        self.broken = True
        return self


def read(text: str) -> Document:
    r"""Read a text, with all problems of its YAML. Never raises.

    >>> read("a: 1\na: 2").problems
    [(2, "the key 'a' comes twice; first in line 1")]
    """
    document = Document()
    if len(text.encode(errors="replace")) > MAX_BYTES:
        return document.fail(1, TOO_LONG)
    loader = None
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            return document.fail(1, "the file is empty")
        document.value = _Reader(loader, document).value(root, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part)
        return document.fail(mark.line + 1 if mark else 1, f"invalid YAML: {reason}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        return document.fail(
            line, f"invalid YAML: the character {chr(error.character)!r} is not allowed"
        )
    except RecursionError:
        return document.fail(1, f"is nested deeper than {MAX_DEPTH}")
    except _Enough as enough:
        return document.fail(1, str(enough))
    finally:
        if loader is not None:
            loader.dispose()
    return document


def plain(value: Any) -> Any:
    """Return a document's value, or a part of it, with tuples as lists."""
    match value:
        case dict():
            return {key: plain(inner) for key, inner in value.items()}
        case tuple():
            return [plain(inner) for inner in value]
    return value


def dump(value: Any) -> str:
    """Return a plain value as YAML, in the order of its keys."""
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)
    return text


def flow(value: Any, *, ascii_only: bool = False) -> str:
    r"""Return a plain value as YAML on one line, in the order of its keys.

    >>> flow("200ms"), flow({"set": {"throttle_time_ms": 5}, "restore": True})
    ('200ms', '{set: {throttle_time_ms: 5}, restore: true}')
    >>> flow({"topic": "tê"}), flow({"topic": "tê"}, ascii_only=True)
    ('{topic: tê}', '{topic: "t\\xEA"}')
    """
    text: str = yaml.safe_dump(
        value,
        sort_keys=False,
        default_flow_style=True,
        width=1 << 20,
        allow_unicode=not ascii_only,
    )
    return text.removesuffix("...\n").strip()


class _Reader:
    def __init__(self, loader: yaml.SafeLoader, document: Document) -> None:
        self.loader = loader
        self.document = document
        self.count = 0

    def value(self, node: yaml.Node, loc: Loc) -> Any:
        self.count += 1
        line = node.start_mark.line + 1
        self.document.lines.setdefault(loc, line)
        if self.count > MAX_VALUES:
            raise _Enough(f"holds more than {MAX_VALUES} values")
        if len(loc) > MAX_DEPTH:
            raise _Enough(f"is nested deeper than {MAX_DEPTH}")
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, loc)
        if node.tag not in _PLAIN:
            self.document.problems.append((line, f"the tag {node.tag} is not allowed"))
        if isinstance(node, yaml.SequenceNode):
            return tuple(self.value(item, (*loc, index)) for index, item in enumerate(node.value))
        return self.mapping(node, loc)

    def mapping(self, node: yaml.Node, loc: Loc) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self.document.problems.append((line, "a key must be text"))
                continue
            key = str(key_node.value)
            if key in values:
                first = self.document.lines[*loc, key]
                self.document.problems.append(
                    (line, f"the key {key!r} comes twice; first in line {first}")
                )
                continue
            self.document.lines[*loc, key] = line
            values[key] = self.value(value_node, (*loc, key))
        return values

    def scalar(self, node: yaml.ScalarNode, loc: Loc) -> Any:
        kind = node.tag.rpartition(":")[2]
        number = kind in ("int", "float")
        try:
            if not number or len(node.value) <= MAX_NUMBER:
                value = self.loader.construct_object(node)
                if isinstance(value, float) and not isfinite(value):
                    return self.unread(node, loc, f"{node.value} is not a number in JSON")
                if not isinstance(value, int) or -(2**63) <= value < 2**63:
                    return value
        except yaml.MarkedYAMLError as error:
            return self.unread(node, loc, f"invalid YAML: {error.problem}")
        except (ValueError, ArithmeticError, LookupError, AttributeError):
            pass  # PyYAML's constructors raise any of these
        noun = "number of at most 64 bits" if number else kind
        return self.unread(
            node, loc, f"invalid YAML: {shorten(node.value, 40)!r} is not a valid {noun}"
        )

    def unread(self, node: yaml.ScalarNode, loc: Loc, reason: str) -> None:
        self.document.unread.add(loc)
        self.document.problems.append((node.start_mark.line + 1, reason))
