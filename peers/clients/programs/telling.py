"""What a program says of an exception; beside `lines.py`, in a venv that has nothing of this project."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

FRAMES = 6
"""Frames that are told, innermost first."""

Teller = Callable[[BaseException], "dict[str, Any] | None"]

_tellers: list[Teller] = []


def say_as(teller: Teller) -> None:
    """Have exceptions of another language told by this, which returns None for all others."""
    _tellers.append(teller)


def told(problem: BaseException, where: str) -> dict[str, Any]:
    """What is said of an exception."""
    for teller in _tellers:
        found = teller(problem)
        if found is not None:
            return {**found, "where": where}
    return {
        "class": _name(type(problem)),
        "bases": [_name(base) for base in type(problem).__mro__],
        "message": str(problem)[:500],
        "frames": _frames(problem.__traceback__),
        "where": where,
    }


def _name(kind: type) -> str:
    return (
        kind.__qualname__
        if kind.__module__ in ("builtins", "work")
        else f"{kind.__module__}.{kind.__qualname__}"
    )


def _frames(trace: TracebackType | None) -> list[str]:
    """Those of libraries, as file:function; of what is ours if there are no others."""
    found = [(frame.filename, frame.name) for frame in reversed(traceback.extract_tb(trace))]
    own = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (nothing is imported twice)
    theirs = [(file, name) for file, name in found if not file.startswith(own)]
    return [f"{_short(file)}:{name}" for file, name in theirs or found][:FRAMES]


def _short(file: str) -> str:
    """The path below site-packages or the standard library."""
    for place in ("site-packages/", f"python{sys.version_info[0]}.{sys.version_info[1]}/"):
        _, found, rest = file.rpartition(place)
        if found:
            return rest
    return file.rpartition("/")[2]
