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
    return Where(text, _Compiled(found.parsed, found.search))


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
