"""Descriptions of exceptions; beside `lines.py`, in a venv that has nothing of this project."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any

FRAMES = 32
"""Frames in a description, innermost first: readers of nested structures call each other often."""

_NATIVE = re.compile(r"<(?:built-in )?method '?(\w+)'? of '?([\w.]+)")
"""A method in C, in the message of a SystemError."""

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
        "frames": _frames(problem),
        "where": where,
    }


def _name(type_: type) -> str:
    return (
        type_.__qualname__
        if type_.__module__ in ("builtins", "work")
        else f"{type_.__module__}.{type_.__qualname__}"
    )


def _frames(problem: BaseException) -> list[str]:
    """Return the innermost frames as file:function, without those of these programs.

    A method in C has no frame: the message of a SystemError names it.
    """
    programs = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 (nothing is imported twice)
    native = _NATIVE.search(str(problem)) if isinstance(problem, SystemError) else None
    frames = [
        f"{_short(frame.filename)}:{frame.name}"
        for frame in reversed(traceback.extract_tb(problem.__traceback__))
        # the main program's files are named as on the command line, maybe by a link
        if not os.path.realpath(frame.filename).startswith(programs)
    ]
    return [*([f"{native[2]}:{native[1]}"] if native else []), *frames][:FRAMES]


def _short(file: str) -> str:
    """Return the path below site-packages or the standard library."""
    for root in ("site-packages/", f"python{sys.version_info[0]}.{sys.version_info[1]}/"):
        _, separator, rest = file.rpartition(root)
        if separator:
            return rest
    return file.rpartition("/")[2]
