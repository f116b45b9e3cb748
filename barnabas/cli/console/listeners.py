"""Errors of listeners, raised as errors of a command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from barnabas.captures.host_port import endpoint_text
from barnabas.trouble import Trouble


@contextmanager
def listening(option: str, address: tuple[str, int] | None = None) -> Iterator[None]:
    """Raise an OSError of a listener within `with` as Trouble that names the option of its address."""
    try:
        yield
    except OSError as problem:
        # the event loop replaces the system's message
        reason = os.strerror(problem.errno) if problem.errno else str(problem)
        location = "" if address is None else f" on {endpoint_text(address)}"
        raise Trouble(f"can't listen{location}: {reason}; choose another {option}") from None
