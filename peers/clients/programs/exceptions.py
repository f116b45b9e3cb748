"""Descriptions of exceptions; beside `lines.py`, in a venv that has nothing of this project."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

FRAMES = 6
"""Frames in a description, innermost first."""

Describer = Callable[[BaseException], "dict[str, Any] | None"]

_describers: list[Describer] = []


def add_describer(describer: Describer) -> None:
    """Describe exceptions of another language by a function that returns None for all others."""
    _describers.append(describer)


def describe_exception(problem: BaseException, where: str) -> dict[str, Any]:
    """Describe an exception: class, bases, message, frames, and `where` it was raised."""
    for describer in _describers:
        description = describer(problem)
        if description is not None:
            return {**description, "where": where}
    return {
        "class": _name(type(problem)),
        "bases": [_name(base) for base in type(problem).__mro__],
        "message": str(problem)[:500],
        "frames": _frames(problem.__traceback__),
        "where": where,
    }


def _name(type_: type) -> str:
    return (
        type_.__qualname__
        if type_.__module__ in ("builtins", "work")
        else f"{type_.__module__}.{type_.__qualname__}"
    )


def _frames(trace: TracebackType | None) -> list[str]:
    """Return the innermost frames of libraries as file:function; of the programs, if there are no others."""
    frames = [(frame.filename, frame.name) for frame in reversed(traceback.extract_tb(trace))]
    programs = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (nothing is imported twice)
    in_libraries = [(file, name) for file, name in frames if not file.startswith(programs)]
    return [f"{_short(file)}:{name}" for file, name in in_libraries or frames][:FRAMES]


def _short(file: str) -> str:
    """Return the path below site-packages or the standard library."""
    for root in ("site-packages/", f"python{sys.version_info[0]}.{sys.version_info[1]}/"):
        _, separator, rest = file.rpartition(root)
        if separator:
            return rest
    return file.rpartition("/")[2]
