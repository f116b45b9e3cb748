"""Which case is to blame for what was seen behind it: found by running cases again, alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from barnabas.fuzz.cases.case import Case

_ALONE: Final = 4
"""So many of the latest are tried one by one."""


def to_blame(
    before: Sequence[Case], alarming: Callable[[Sequence[Case]], bool]
) -> list[Case] | None:
    """The shortest run of cases, the guilty one last, that does it in a new process; None if none does.

    before: in order, the latest last. alarming: runs them in a new process and looks.
    """
    for case in list(reversed(before))[:_ALONE]:
        if alarming([case]):
            return [case]
    found = list(before)
    if not found or not alarming(found):
        return None
    while len(found) > 1 and alarming(found[:-1]):  # the last one did it only seemingly
        found = found[:-1]
    step = len(found) // 2
    while step:
        if len(found) > step and alarming(found[step:]):
            found = found[step:]
        step = min(step // 2, len(found) // 2)
    return found
