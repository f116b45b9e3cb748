"""Packages that an extra of barnabas brings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from barnabas.trouble import COULD_NOT_RUN, Trouble


@contextmanager
def needs(what: str, extra: str) -> Iterator[None]:
    """Raise Trouble for a package that can't be imported within it, and say which extra brings it."""
    try:
        yield
    except ImportError as problem:
        line = f"{what} needs the package {problem.name}: pip install 'barnabas[{extra}]'"
        raise Trouble(line, COULD_NOT_RUN) from None
