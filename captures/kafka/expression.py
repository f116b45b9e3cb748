"""Conditions in JMESPath (https://jmespath.org), on the JSON form of a body or of an exchange.

One language for rules, logs and filters. Beside JMESPath's own `100` in backticks, numbers, true,
false and null may stand bare where something is compared: a shell would take the backticks.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import jmespath
from jmespath import exceptions

MAX_DEPTH: Final = 250
"""Parts of a condition within each other: JMESPath takes two of the 1,000 calls that Python has for each."""


MAX_LENGTH: Final = 10_000
"""Characters of a condition: a longer one takes a second or more to compile, and much memory, which JMESPath
keeps."""

COPIES: Final = 100
"""Times that a part of a value may stand in what a condition makes of it: copies of copies fill any memory,
also in a condition of 270 characters."""


class Unclear(ValueError):
    """A condition can't be decided on this body, and why."""


class _Compiled(NamedTuple):
    """JMESPath's syntax tree, and the function that evaluates it."""

    parsed: Any
    search: Any


_TOKEN: Final = re.compile(
    r"""(?P<other>\s+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\[\?)"""
    r"""|(?P<comparator>[=!<>]=|[<>])"""
    r"""|(?P<literal>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|(?:true|false|null)\b)"""
    r"""|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>.)""",
    re.DOTALL,
)


def quote(text: str) -> str:
    """The condition with backticks around what is compared to bare; indices stay as they are.

    >>> quote("topics[0].n > 5 && 1.5 <= max(x, -3) && ok == true && s == '7 > 5'")
    "topics[0].n > `5` && `1.5` <= max(x, `-3`) && ok == `true` && s == '7 > 5'"
    """
    tokens = [(str(m.lastgroup), m.group()) for m in _TOKEN.finditer(text)]
    solid = [i for i, (_, token) in enumerate(tokens) if not token.isspace()]
    parts = [token for _, token in tokens]
    for before, index, behind in zip([-1, *solid], solid, [*solid[1:], -1], strict=False):
        compared = any(i >= 0 and tokens[i][0] == "comparator" for i in (before, behind))
        argument = before >= 0 and tokens[before][1] in ("(", ",") and parts[index][-1].isdigit()
        if tokens[index][0] == "literal" and (compared or argument):
            parts[index] = f"`{parts[index]}`"
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled condition."""

    text: str
    compiled: _Compiled
    roots: tuple[str, ...] | None = None
    """The body's own fields that it looks at: no others need be decoded. None: it may be any."""

    def compared(self) -> set[tuple[str, str]]:
        """Return the body's own fields and the texts to which they are compared, by == or !=.

        >>> expression("api == 'Fetch' && topics[?api == 'x']").compared()
        {('api', 'Fetch')}
        """
        return set(_compared(self.compiled.parsed))

    def holds(self, fields: dict[str, Any]) -> bool:
        """Whether the body meets it, by JMESPath's truth: null, false and empty values are false.

        Raises Unclear, for example if a function is given what it can't work with.

        >>> expression("topics[?name=='a']").holds({"topics": [{"name": "b"}]})
        False
        """
        found = self.value(fields)
        return not (found is None or found is False or found in ("", [], {}))

    def value(self, fields: dict[str, Any]) -> Any:
        """What it makes of the body. Raises Unclear.

        >>> expression("topics[0].name").value({"topics": [{"name": "a"}]})
        'a'
        """
        try:
            return self.compiled.search(fields)
        except exceptions.JMESPathTypeError as error:  # its own text quotes the value
            takes = ", ".join(error.expected_types[:-1])
            takes += f" or {error.expected_types[-1]}" if takes else error.expected_types[-1]
            raise Unclear(
                f"{error.function_name}() takes {takes}, not {error.actual_type}"
            ) from None
        except (ValueError, TypeError, ArithmeticError) as error:
            raise Unclear(_one_line(str(error))) from None


def expression(text: str, numbers: Collection[str] = ()) -> Expression:
    """Compile a condition. Raises ValueError, in one line, if it is none.

    numbers: fields of the value itself that hold numbers alone.

    >>> expression("latency_ms > 100 && api == 'Produce'").holds({"latency_ms": 101, "api": "Fetch"})
    False
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"is longer than {MAX_LENGTH:,} characters")
    written = quote(text)
    try:
        with warnings.catch_warnings():  # text in backticks is old-fashioned, and understood
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            found = jmespath.compile(written)
    except exceptions.JMESPathError as error:
        raise ValueError(f"{text!r} does not compile: {_why(error, text)}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if _depth(found.parsed) > MAX_DEPTH:  # a || a || ... is parsed in a loop and walked in depth
        raise ValueError("is nested too deeply")
    if _copies(found.parsed, 1) > COPIES:
        raise ValueError(f"may copy what it looks at more than {COPIES} times")
    if (other := _unordered(found.parsed, numbers)) is not None:
        raise ValueError(f"{other} is neither more nor less than a number")
    names = _roots(found.parsed)
    roots = None if names is None else tuple(sorted(names))
    return Expression(text, _Compiled(found.parsed, found.search), roots)


def _compared(node: Any) -> Iterator[tuple[str, str]]:
    """Find (field, text) of the comparisons that a condition is made of."""
    inner = [each for each in node["children"] if isinstance(each, dict)]
    if node["type"] == "comparator" and node["value"] in ("eq", "ne"):
        fields = [each["value"] for each in inner if each["type"] == "field"]
        texts = [each["value"] for each in inner if each["type"] == "literal"]
        if fields and texts and isinstance(texts[0], str):
            yield fields[0], texts[0]
    elif node["type"] in ("and_expression", "or_expression", "not_expression"):
        for each in inner:
            yield from _compared(each)


def _unordered(node: Any, numbers: Collection[str]) -> str | None:
    """What stands beside <, <=, > or >= and is neither more nor less than the other side, or None.

    >>> _unordered(jmespath.compile("client_id > 'm' && latency_ms > 'x'").parsed, ["latency_ms"])
    "'x'"
    """
    inner = [each for each in node["children"] if isinstance(each, dict)]
    if node["type"] == "comparator" and node["value"] not in ("eq", "ne"):
        number = any(each["type"] == "field" and each["value"] in numbers for each in inner)
        for each in inner:
            if each["type"] == "literal" and type(each["value"]) not in (
                (int, float) if number else (int, float, str)
            ):
                return "null" if each["value"] is None else repr(each["value"])
    here = numbers if node["type"] in ("and_expression", "or_expression", "not_expression") else ()
    return next((found for each in inner if (found := _unordered(each, here))), None)


def _copies(node: Any, of: int) -> int:
    """How often a part of the value may stand in what a node makes, also on its way, of what has it so often.

    >>> _copies(jmespath.compile("[a, b] | [@, {c: @}] | [0]").parsed, 1)
    4
    """
    inner = [each for each in node["children"] if isinstance(each, dict)]
    match node["type"]:
        case "and_expression" | "or_expression" | "comparator":
            return max(_copies(each, of) for each in inner)
        case "multi_select_list" | "multi_select_dict":
            return sum(_copies(each, of) for each in inner)
        case "function_expression":
            made = sum(_copies(each, of) for each in inner if each["type"] != "expref")
            inner = [each for each in inner if each["type"] == "expref"]
            if node["value"] == "to_string":  # its backslashes double each time
                made *= 2
            elif node["value"] == "join" and node["children"]:  # its first is between the others
                made *= _length(node["children"][0])
            of = max(of, made)
    for each in inner:  # is about what the one before it made
        of = _copies(each, of)
    return of


def _length(separator: Any) -> int:
    """How long it is; one that is only made then has no bound."""
    return max(1, len(str(separator["value"]))) if separator["type"] == "literal" else COPIES + 1


def _depth(node: Any) -> int:
    """How many parts stand within each other."""
    depth, level = 0, [node]
    while level:
        depth += 1
        level = [inner for one in level for inner in one["children"] if isinstance(inner, dict)]
    return depth


def _roots(node: Any) -> set[str] | None:
    """The fields of the body itself that a part of a condition, standing at its top, looks at."""
    children = node["children"]
    match node["type"]:
        case "field":  # tags that nobody knows stand anywhere
            return None if node["value"] == "_tags" else {node["value"]}
        case "literal" | "expref":  # an expref is about the elements that a function is given
            return set()
        case (
            "subexpression"
            | "index_expression"
            | "projection"
            | "filter_projection"
            | "value_projection"
            | "flatten"
            | "pipe"
        ):
            return _roots(children[0])  # all else is about what the first part found
        case (
            "comparator"
            | "and_expression"
            | "or_expression"
            | "not_expression"
            | "function_expression"
            | "multi_select_list"
            | "multi_select_dict"
            | "key_val_pair"
        ):
            found: set[str] = set()
            for child in children:
                names = _roots(child)
                if names is None:
                    return None
                found |= names
            return found
    return None


def _why(error: exceptions.JMESPathError, text: str) -> str:
    match error:
        case exceptions.EmptyExpressionError():
            return "it is empty"
        case exceptions.IncompleteExpressionError():
            return "it ends too early"
        case exceptions.LexerError():
            return f"{_one_line(error.message)} {_place(error.lexer_position, text)}"
        case exceptions.ParseError():
            return f"unexpected {error.token_value!r} {_place(error.lex_position, text)}"
    return _one_line(str(error))


def _place(position: int, text: str) -> str:
    """The column in what was written, which lacks the backticks that were put in."""
    column = 0
    for char in quote(text)[:position]:
        column += column < len(text) and char == text[column]
    return f"at column {column + 1}"


def _one_line(text: str) -> str:
    return text.partition("\n")[0]
