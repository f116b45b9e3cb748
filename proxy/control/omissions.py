"""What a response leaves out: workers that do not answer, and messages beyond a limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

WAITING: Final = 1000
"""The most messages at breakpoints that are listed; tens of thousands may wait."""


class NoAnswer(RuntimeError):
    """The error that workers did not answer in time, and the response may depend on them.

    >>> print(NoAnswer([1, 2]))
    workers 1 and 2 do not answer: ask again; kill a worker that hangs, and the proxy replaces it
    """

    def __init__(self, workers: Sequence[int]) -> None:
        super().__init__(
            f"{silent(workers)}: ask again; kill a worker that hangs, and the proxy replaces it"
        )


def silent(workers: Sequence[int]) -> str:
    """Name workers that do not answer.

    >>> silent([2])
    'worker 2 does not answer'
    """
    names = " and ".join(map(str, workers))
    return (
        f"workers {names} do not answer" if len(workers) > 1 else f"worker {names} does not answer"
    )
