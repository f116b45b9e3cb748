"""Puts the code of a changed source into the functions of a module that is imported already."""

from __future__ import annotations

import functools
import gc
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType, FunctionType


def code_of(source: str, file: str, qualified: str) -> CodeType:
    """Return the code of a function in a source. Raises LookupError, SyntaxError."""
    codes = codes_of(source, file, qualified)[qualified]
    if not codes:
        raise LookupError(f"{file} has no function {qualified}")
    return codes[0]


def swap(file: str, qualified: str, before: str, after: str) -> None:
    """Give a function of this file, and those inside it, the code of a changed source wherever they are held.

    Results that functions of barnabas have cached are forgotten.

    Args:
        file: the path of the module's source.
        qualified: the qualified name of a function that stands in no other function.
        before: the source that was imported.
        after: the changed source.

    Raises:
        LookupError: no such function is there.
        ValueError: a function that is held refers to other variables around it than the changed one.
        SyntaxError: the changed source is no Python.
    """
    old, new = (codes_of(source, file, qualified) for source in (before, after))
    changed = {
        _place(code): replacement
        for name, codes in old.items()
        if len(codes)
        == len(new[name])
        == len(set(map(_place, codes)))  # else nobody knows which is which
        for code, replacement in zip(codes, new[name], strict=True)
    }
    held = [(found, changed.get(_place(found.__code__))) for found in functions_of(file)]
    if not any(code is not None and code.co_qualname == qualified for _, code in held):
        raise LookupError(f"{file}: no function {qualified} is there")
    for found, code in held:
        if code is not None:
            found.__code__ = _with_variables(code, found.__code__.co_freevars)
    for cached in gc.get_objects():
        if isinstance(cached, functools._lru_cache_wrapper) and _is_ours(cached):
            cached.cache_clear()


def codes_of(source: str, file: str, qualified: str) -> defaultdict[str, list[CodeType]]:
    """Return the code of a function and of those inside it by qualified name, in the order of the source."""
    found: defaultdict[str, list[CodeType]] = defaultdict(list)
    for code in _all_codes(compile(source, file, "exec", dont_inherit=True)):
        if f"{code.co_qualname}.".startswith(f"{qualified}."):
            found[code.co_qualname].append(code)
    return found


def functions_of(file: str) -> list[FunctionType]:
    """Return the functions that are written in this file and are there by now."""
    gc.unfreeze()  # what a test has frozen is not among the objects
    return [
        found
        for found in gc.get_objects()
        if isinstance(found, FunctionType) and found.__code__.co_filename == file
    ]


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _all_codes(const)


def _place(code: CodeType) -> tuple[str, int]:
    """Return what tells functions of a source apart, also if pytest has rewritten their assertions."""
    return code.co_qualname, code.co_firstlineno


def _with_variables(code: CodeType, free: tuple[str, ...]) -> CodeType:
    """Return code that a function with these free variables takes: without `super()`, say, it needs none."""
    return code if code.co_freevars else code.replace(co_freevars=free)


def _is_ours(cached: object) -> bool:
    return str(getattr(cached, "__module__", "")).startswith("barnabas")
