"""What can go wrong with Spark before anything is read; each message says what to do."""

from __future__ import annotations

import re
from typing import Final

_TELLING: Final = (
    re.compile(r"\[PYTHON_VERSION_MISMATCH\] *(.*)"),
    re.compile(r"(Cannot run program.*)"),
    re.compile(r"org\.apache\.kafka\.common\.errors\.(\w+: .*)"),
    re.compile(r"^(\w*(?:Error|Exception): .*)", re.MULTILINE),
)

_LONGEST: Final = 300


class UnavailableError(RuntimeError):
    """Java, pyspark, the cluster or what its workers need is missing or does not answer."""


def reason(problem: BaseException) -> str:
    """Of a long message of Spark's, the line that says why.

    >>> reason(RuntimeError("Job aborted\\nTraceback ...\\nOSError: no such file\\n\\tat org.apache"))
    'OSError: no such file'
    """
    text = str(problem)
    for telling in _TELLING:
        if found := telling.search(text):
            return found[1].strip()[:_LONGEST]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines or [type(problem).__name__])[0][:_LONGEST]
