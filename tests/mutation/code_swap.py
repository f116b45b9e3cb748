"""Puts the code of a changed source into the functions of a module that is imported already."""

from __future__ import annotations

import functools
import gc
from types import CodeType, FunctionType


def code_of(source: str, file: str, qualified: str) -> CodeType:
    """Return the code of a function in a source. Raises LookupError, SyntaxError."""
    waiting = [compile(source, file, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == qualified:
            return code
        waiting += [const for const in code.co_consts if isinstance(const, CodeType)]
    raise LookupError(f"{file} has no function {qualified}")


def swap(file: str, qualified: str, source: str) -> None:
    """Give all functions of this name, written in this file, the code that a source has for them.

    Results that functions of barnabas have cached are forgotten. Raises LookupError if there is none.
    """
    code = code_of(source, file, qualified)
    functions = [found for found in functions_of(file) if found.__code__.co_qualname == qualified]
    if not functions:
        raise LookupError(f"{file}: no function {qualified} is there")
    for found in functions:
        found.__code__ = code
    for cached in gc.get_objects():
        if isinstance(cached, functools._lru_cache_wrapper) and _is_ours(cached):
            cached.cache_clear()


def functions_of(file: str) -> list[FunctionType]:
    """Return the functions that are written in this file and are there by now."""
    gc.unfreeze()  # what a test has frozen is not among the objects
    return [
        found
        for found in gc.get_objects()
        if isinstance(found, FunctionType) and found.__code__.co_filename == file
    ]


def _is_ours(cached: object) -> bool:
    return str(getattr(cached, "__module__", "")).startswith("barnabas")
