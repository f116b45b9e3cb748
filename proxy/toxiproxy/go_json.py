r"""JSON as Go's encoding/json reads and writes it: its clients see its words in errors.

Of a body the first value is read, whatever is behind it. Names of fields are compared in any case, unknown
ones are passed over, `null` changes nothing. https://pkg.go.dev/encoding/json
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import orjson

Fields = Mapping[str, str]
"""Names of a struct's fields, and Go's types of them."""

DEPTH: Final = 100
"""Values within each other of what is kept: what is written must not be deeper than orjson writes."""

_SPACE: Final = " \t\r\n"
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MARKUP: Final = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026"}
_SEPARATORS: Final = {"\u2028".encode(): b"\\u2028", "\u2029".encode(): b"\\u2029"}
_KINDS: Final = {bool: "bool", str: "string", list: "array", dict: "object"}
_INTEGERS: Final = ("int", "int64")


class JsonError(ValueError):
    """What Go says of a body that is wrong."""


class Number(str):
    """A number as it was written."""

    __slots__ = ()


class _NotJson(ValueError):
    """NaN or an infinity, which Python reads."""


def read(body: bytes) -> Any:
    """The first value of a body; its numbers as `Number`. Raises JsonError.

    >>> read(b'{"a": [1, null]} and so on')
    {'a': ['1', None]}
    """
    text = body.decode("utf-8", "replace")
    try:
        return _first(text)
    except _NotJson as found:
        name = str(found)
        where = "in numeric literal" if name[0] == "-" else "looking for beginning of value"
        raise JsonError(f"invalid character {name.lstrip('-')[0]!r} {where}") from None
    except json.JSONDecodeError:
        pass
    except RecursionError:
        raise JsonError("exceeded max depth") from None
    try:  # Go counts bytes
        _first(body.decode("latin-1"))
    except json.JSONDecodeError as problem:
        raise JsonError(_said(problem)) from None
    raise JsonError("unexpected EOF")


def _first(text: str) -> Any:
    begin = len(text) - len(text.lstrip(_SPACE))
    value, end = _DECODER.raw_decode(text, begin)
    if isinstance(value, Number) and text[end : end + 1] in tuple(".eE"):
        raise json.JSONDecodeError("Expecting ',' delimiter", text, end)
    return value


def _constant(name: str) -> Any:
    raise _NotJson(name)


_DECODER: Final = json.JSONDecoder(
    parse_int=Number, parse_float=Number, parse_constant=_constant, strict=True
)


def _said(problem: json.JSONDecodeError) -> str:
    """Go's words for what Python found."""
    text, at = problem.doc, problem.pos
    if problem.msg.startswith("Illegal trailing comma"):
        at += 1
        at += len(text[at:]) - len(text[at:].lstrip(_SPACE))
        name = "object key string" if "object" in problem.msg else "value"
        return _unexpected(text, at, f"looking for beginning of {name}")
    if problem.msg.startswith("Unterminated string"):
        return "unexpected EOF"
    if problem.msg.startswith("Invalid control character"):
        return _unexpected(text, at, "in string literal")
    if problem.msg.startswith("Invalid \\escape"):
        return _unexpected(text, at + (text[at] == "\\"), "in string escape code")
    if problem.msg.startswith("Invalid \\u"):
        at = text.rfind("\\u", 0, at + 2) + 2
        at += len(re.match("[0-9a-fA-F]{0,3}", text[at:]).group())  # type: ignore[union-attr]
        return _unexpected(text, at, "in \\u hexadecimal character escape")
    if problem.msg.startswith("Expecting property name"):
        return _unexpected(text, at, "looking for beginning of object key string")
    if problem.msg.startswith("Expecting ':'"):
        return _unexpected(text, at, "after object key")
    if problem.msg.startswith("Expecting ','"):
        return _after_value(text, at)
    return _no_value(text, at)


def _after_value(text: str, at: int) -> str:
    if text[at - 1].isdigit() and text[at : at + 1] == ".":
        return _unexpected(text, at + 1, "after decimal point in numeric literal")
    if text[at - 1].isdigit() and text[at : at + 1] in ("e", "E"):
        at += 1 + (text[at + 1 : at + 2] in ("+", "-"))
        return _unexpected(text, at, "in exponent of numeric literal")
    open_ = []
    for token in _TOKEN.findall(text[:at]):
        if token in ("[", "{"):
            open_.append(token)
        elif token in ("]", "}"):
            open_.pop()
    pair = bool(open_) and open_[-1] == "{"
    return _unexpected(text, at, "after object key:value pair" if pair else "after array element")


def _no_value(text: str, at: int) -> str:
    if at >= len(text):
        return "unexpected EOF" if text.strip(_SPACE) else "EOF"
    if text[at] == "-":
        return _unexpected(text, at + 1, "in numeric literal")
    for word in ("true", "false", "null"):
        if text[at] == word[0]:
            place = next(i for i in range(len(word)) if text[at + i : at + i + 1] != word[i])
            return _unexpected(text, at + place, f"in literal {word} (expecting {word[place]!r})")
    return _unexpected(text, at, "looking for beginning of value")


def _unexpected(text: str, at: int, where: str) -> str:
    if at >= len(text):
        return "unexpected EOF"
    return f"invalid character {_quoted(text[at])} {where}"


def _quoted(character: str) -> str:
    """As Go quotes it.

    >>> _quoted("'"), _quoted('"'), _quoted("\\x01")
    ("'\\\\''", '\\'"\\'', "'\\\\x01'")
    """
    if character == "'":
        return "'\\''"
    if character == '"':
        return "'\"'"
    if "\x7f" < character < "\xa0":
        return f"'\\u{ord(character):04x}'"
    shown = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v"}.get(character)
    return f"'{shown}'" if shown else repr(character)


def fill(
    target: dict[str, Any], value: Any, fields: Fields, whole: str, struct_: str, path: str = ""
) -> None:
    """Put the fields of an object that are known into `target`, whose values are Python's.

    whole: the struct's type in Go; struct_: the same, or what it is in, as errors name a field of it, by
    `path`. Raises JsonError for the first that is of another type; what is right of the rest is in `target`
    then, too.
    """
    if value is None:
        return
    if not isinstance(value, dict):
        raise no_value_of(whole, value)
    problem = ""
    for key, given in value.items():
        name = key if key in fields else _any_case(key, fields)
        if name is None or given is None:
            continue
        type_ = fields[name]
        try:
            target[name] = _typed(given, type_)
        except ValueError as what:
            where = f"Go struct field {struct_}.{path}{name} of type {type_}"
            problem = problem or f"json: cannot unmarshal {what} into {where}"
    if problem:
        raise JsonError(problem)


def no_value_of(type_: str, value: Any) -> JsonError:
    """What Go says of a whole that is of another type."""
    return JsonError(f"json: cannot unmarshal {_kind(value)} into Go value of type {type_}")


def _any_case(key: str, fields: Fields) -> str | None:
    return next((name for name in fields if name.casefold() == key.casefold()), None)


def _typed(value: Any, type_: str) -> Any:
    """A value of a type of Go. Raises ValueError with what it is instead."""
    if type_ == "string" and isinstance(value, str) and not isinstance(value, Number):
        return _SURROGATE.sub("\ufffd", value)
    if type_ == "bool" and isinstance(value, bool):
        return value
    if type_ in _INTEGERS and isinstance(value, Number):
        digits = value.lstrip("-")
        if digits.isdigit() and len(digits) < 20 and -(2**63) <= int(value) < 2**63:
            return int(value)
        raise ValueError(f"number {value}")
    if type_ == "float32" and isinstance(value, Number):
        try:
            found: float = struct.unpack("<f", struct.pack("<f", float(value)))[0]
        except OverflowError:
            found = math.inf
        if math.isinf(found):
            raise ValueError(f"number {value}")
        return found
    if isinstance(value, dict) and (type_[0].isupper() or "." in type_):  # a struct
        return value
    raise ValueError(_kind(value))


def _kind(value: Any) -> str:
    return "number" if isinstance(value, Number) else _KINDS[type(value)]


def plain(value: Any, depth: int = 0) -> Any:
    """The same with Python's numbers, and texts that UTF-8 has. Raises JsonError if it is nested too deeply.

    >>> plain({"a": [Number("1"), Number("0.5")]})
    {'a': [1, 0.5]}
    """
    if depth > DEPTH:
        raise JsonError("exceeded max depth")
    if isinstance(value, Number):
        return int(value) if value.lstrip("-").isdigit() and len(value) < 20 else float(value)
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {plain(key): plain(each, depth + 1) for key, each in value.items()}
    return [plain(each, depth + 1) for each in value] if isinstance(value, list) else value


def float32(value: float) -> orjson.Fragment:
    """A number of 32 bits in the fewest digits that tell it from others.

    >>> write([float32(1.0), float32(0.3333333432674408), float32(1e-7)])
    b'[1,0.33333334,1e-7]'
    """
    digits = next(text for n in range(1, 10) if _same(text := f"{value:.{n}g}", value) or n == 9)
    number = Decimal(digits)
    if not number or Decimal("1e-6") <= abs(number) < Decimal("1e21"):
        text = f"{number:f}"
    else:
        mantissa, _, exponent = f"{number.normalize():e}".partition("e")
        text = f"{mantissa}e{int(exponent):+03d}".replace("e-0", "e-")
    return orjson.Fragment(text)


def _same(text: str, value: float) -> bool:
    try:
        return bool(struct.pack("<f", float(text)) == struct.pack("<f", value))
    except OverflowError:  # rounded up beyond all numbers of 32 bits
        return False


def write(value: Any) -> bytes:
    """A value as JSON, in which what browsers may take for markup is escaped."""
    found = orjson.dumps(value)
    for character, escaped in (*_MARKUP.items(), *_SEPARATORS.items()):
        found = found.replace(character, escaped)
    return found
