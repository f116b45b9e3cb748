"""Conditions on the body of a message, in JMESPath (https://jmespath.org) over its JSON form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import jmespath
from jmespath import exceptions

from proxy.matching import Match
from proxy.where_fields import check_fields


class Unclear(ValueError):
    """A condition can't be decided on this body, and why."""


class _Compiled(NamedTuple):
    parsed: Any
    search: Any


@dataclass(frozen=True, slots=True)
class Where:
    """A compiled condition."""

    text: str
    _compiled: _Compiled
    roots: tuple[str, ...] | None = None
    """The body's own fields that it looks at: no others need be decoded. None: it may be any."""

    def holds(self, fields: dict[str, Any]) -> bool:
        """Whether the body meets it, by JMESPath's truth: null, false and empty values are false.

        Raises Unclear, for example if a function is given what it can't work with.

        >>> where("topics[?name=='a']").holds({"topics": [{"name": "b"}]})
        False
        """
        try:
            found = self._compiled.search(fields)
        except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
            raise Unclear(_one_line(str(error))) from None
        return not (found is None or found is False or found in ("", [], {}))


def where(text: str) -> Where:
    """Compile a condition. Raises ValueError, in one line, if it is none."""
    try:
        with warnings.catch_warnings():  # text in backticks is old-fashioned, and understood
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            found = jmespath.compile(text)
    except exceptions.JMESPathError as error:
        raise ValueError(f"{text!r} does not compile: {_why(error)}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    try:
        names = _roots(found.parsed)
    except RecursionError:  # a || a || ... is parsed in a loop and walked in depth
        names = None
    roots = None if names is None else tuple(sorted(names))
    return Where(text, _Compiled(found.parsed, found.search), roots)


def _roots(node: Any) -> set[str] | None:
    """The fields of the body itself that a part of a condition, standing at its top, looks at."""
    children = node["children"]
    match node["type"]:
        case "field":
            return {node["value"]}
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


def check(condition: Where, match: Match) -> list[str]:
    """What is wrong with a condition on these messages: fields that no version of any of them has,
    functions that JMESPath does not have."""
    try:
        return check_fields(condition.text, condition._compiled.parsed, match)
    except RecursionError:  # a || a || ... is parsed in a loop and walked in depth
        return ["is nested too deeply"]


def _why(error: exceptions.JMESPathError) -> str:
    match error:
        case exceptions.EmptyExpressionError():
            return "it is empty"
        case exceptions.IncompleteExpressionError():
            return "it ends too early"
        case exceptions.LexerError():
            return f"{_one_line(error.message)} at column {error.lexer_position + 1}"
        case exceptions.ParseError():
            hint = "; numbers are written in backticks" if error.token_type == "NUMBER" else ""  # noqa: S105
            return f"unexpected {error.token_value!r} at column {error.lex_position + 1}{hint}"
    return _one_line(str(error))


def _one_line(text: str) -> str:
    return text.partition("\n")[0]
