"""Evaluate conditions in JMESPath (https://jmespath.org) on the JSON form of a body or an exchange.

Rules, logs and filters share this language. In addition to JMESPath's `100` in backticks, numbers, true,
false and null may be written bare in comparisons, since a shell would interpret the backticks.
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
"""Nesting of a condition: JMESPath takes two of Python's 1,000 stack frames for each level."""


MAX_LENGTH: Final = 10_000
"""Characters of a condition: a longer one takes a second or more to compile, and much memory, which JMESPath
retains."""

COPIES: Final = 100
"""How often the result of a condition may contain a part of the value: copies of copies exhaust memory, even
in a condition of 270 characters."""


class Unclear(ValueError):
    """An error: the condition can't be decided on this body."""


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
    """Put backticks around bare literals in comparisons; indices stay unchanged.

    >>> quote("topics[0].n > 5 && 1.5 <= max(x, -3) && ok == true && s == '7 > 5'")
    "topics[0].n > `5` && `1.5` <= max(x, `-3`) && ok == `true` && s == '7 > 5'"
    """
    tokens = [(str(m.lastgroup), m.group()) for m in _TOKEN.finditer(text)]
    solid = [i for i, (_, token) in enumerate(tokens) if not token.isspace()]
    parts = [token for _, token in tokens]
    for before, index, following in zip([-1, *solid], solid, [*solid[1:], -1], strict=False):
        compared = any(i >= 0 and tokens[i][0] == "comparator" for i in (before, following))
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
    """The top-level fields that the condition uses: only they need be decoded. None: possibly all."""

    def compared(self) -> set[tuple[str, str]]:
        """Return the top-level fields and the texts to which == or != compares them.

        >>> expression("api == 'Fetch' && topics[?api == 'x']").compared()
        {('api', 'Fetch')}
        """
        return set(_compared(self.compiled.parsed))

    def holds(self, fields: dict[str, Any]) -> bool:
        """Return whether the condition holds by JMESPath's truth: null, false and empty values are false.

        Raises Unclear, for example if a function gets an argument of the wrong type.

        >>> expression("topics[?name=='a']").holds({"topics": [{"name": "b"}]})
        False
        """
        result = self.value(fields)
        return not (result is None or result is False or result in ("", [], {}))

    def value(self, fields: dict[str, Any]) -> Any:
        """Evaluate the condition on a body. Raises Unclear.

        >>> expression("topics[0].name").value({"topics": [{"name": "a"}]})
        'a'
        """
        try:
            return self.compiled.search(fields)
        except exceptions.JMESPathTypeError as error:  # its message quotes the value
            takes = ", ".join(error.expected_types[:-1])
            takes += f" or {error.expected_types[-1]}" if takes else error.expected_types[-1]
            raise Unclear(
                f"{error.function_name}() takes {takes}, not {error.actual_type}"
            ) from None
        except (ValueError, TypeError, ArithmeticError) as error:
            raise Unclear(_one_line(str(error))) from None


def expression(text: str, numbers: Collection[str] = ()) -> Expression:
    """Compile a condition.

    Args:
        text: The condition.
        numbers: Top-level fields that only hold numbers.

    Raises:
        ValueError: The condition is invalid; the message has one line.

    >>> expression("latency_ms > 100 && api == 'Produce'").holds({"latency_ms": 101, "api": "Fetch"})
    False
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"is longer than {MAX_LENGTH:,} characters")
    written = quote(text)
    try:
        with warnings.catch_warnings():  # unquoted text in backticks is deprecated, but works
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            parsed = jmespath.compile(written)
    except exceptions.JMESPathError as error:
        raise ValueError(f"{text!r} does not compile: {_reason(error, text)}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if _depth(parsed.parsed) > MAX_DEPTH:  # a || a || ... is parsed in a loop and walked in depth
        raise ValueError("is nested too deeply")
    if _copies(parsed.parsed, 1) > COPIES:
        raise ValueError(f"may copy what it looks at more than {COPIES} times")
    if (other := _unordered(parsed.parsed, numbers)) is not None:
        raise ValueError(f"{other} is neither more nor less than a number")
    names = _roots(parsed.parsed)
    roots = None if names is None else tuple(sorted(names))
    return Expression(text, _Compiled(parsed.parsed, parsed.search), roots)


def _compared(node: Any) -> Iterator[tuple[str, str]]:
    """Yield the field and the text of each comparison in a condition."""
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
    """Return an operand of <, <=, > or >= that has no order against the other operand; None without one.

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
    inner_numbers = (
        numbers if node["type"] in ("and_expression", "or_expression", "not_expression") else ()
    )
    return next((operand for each in inner if (operand := _unordered(each, inner_numbers))), None)


def _copies(node: Any, of: int) -> int:
    """Return how often the result of a node, or an intermediate one, may contain a part of its input.

    `of` is how often the input contains it already.

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
            result = sum(_copies(each, of) for each in inner if each["type"] != "expref")
            inner = [each for each in inner if each["type"] == "expref"]
            if node["value"] == "to_string":  # it doubles backslashes
                result *= 2
            elif node["value"] == "join" and node["children"]:  # the separator is repeated
                result *= _length(node["children"][0])
            of = max(of, result)
    for each in inner:  # each takes the result of the one before
        of = _copies(each, of)
    return of


def _length(separator: Any) -> int:
    """Return the length of a literal separator; unbounded for a computed one."""
    return max(1, len(str(separator["value"]))) if separator["type"] == "literal" else COPIES + 1


def _depth(node: Any) -> int:
    depth, level = 0, [node]
    while level:
        depth += 1
        level = [
            inner for parent in level for inner in parent["children"] if isinstance(inner, dict)
        ]
    return depth


def _roots(node: Any) -> set[str] | None:
    """Return the fields that a part of a condition, applied to the body itself, uses."""
    children = node["children"]
    match node["type"]:
        case "field":  # unknown tagged fields may be anywhere
            return None if node["value"] == "_tags" else {node["value"]}
        case "literal" | "expref":  # an expref applies to elements of a function's argument
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
            return _roots(children[0])  # the rest applies to the result of the first part
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
            roots: set[str] = set()
            for child in children:
                names = _roots(child)
                if names is None:
                    return None
                roots |= names
            return roots
    return None


def _reason(error: exceptions.JMESPathError, text: str) -> str:
    match error:
        case exceptions.EmptyExpressionError():
            return "it is empty"
        case exceptions.IncompleteExpressionError():
            return "it ends too early"
        case exceptions.LexerError():
            return f"{_one_line(error.message)} {_column(error.lexer_position, text)}"
        case exceptions.ParseError():
            return f"unexpected {error.token_value!r} {_column(error.lex_position, text)}"
    return _one_line(str(error))


def _column(position: int, text: str) -> str:
    """Return the column in the original text, without the added backticks."""
    column = 0
    for char in quote(text)[:position]:
        column += column < len(text) and char == text[column]
    return f"at column {column + 1}"


def _one_line(text: str) -> str:
    return text.partition("\n")[0]
