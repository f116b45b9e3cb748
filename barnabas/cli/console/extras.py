"""Packages that an extra of barnabas installs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from barnabas.trouble import COULD_NOT_RUN, Trouble


@contextmanager
def needs(feature: str, extra: str) -> Iterator[None]:
    """Raise Trouble, naming the extra, if a package can't be imported within `with`."""
    try:
        yield
    except ImportError as problem:
        line = (
            f"{feature} needs the package {problem.name}: install barnabas with the extra '{extra}'"
        )
        raise Trouble(line, COULD_NOT_RUN) from None
