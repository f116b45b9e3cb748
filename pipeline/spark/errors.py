"""What can go wrong with Spark before anything is read; each message says what to do."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Final

_TELLING: Final = (
    re.compile(r"\[PYTHON_VERSION_MISMATCH\] *(.*)"),
    re.compile(r"(Cannot run program.*)"),
    re.compile(r"org\.apache\.kafka\.common\.errors\.(\w+: .*)"),
    re.compile(r"^(\w*(?:Error|Exception): .*)", re.MULTILINE),
)

_LONGEST: Final = 300
_FULL: Final = "No space left on device"
"""strerror of ENOSPC, in whatever stands around it."""
_ADVICE: Final = "where Spark works: free some, or name another folder by TMPDIR"
_LEAST: Final = 64 << 10
"""Bytes with less of which its JVM was seen to wait for ever."""


class UnavailableError(RuntimeError):
    """Java, pyspark, the cluster or what its workers need is missing or does not answer."""


def reason(problem: BaseException, out: Path | None = None) -> str:
    """Of a long message of Spark's, the line that says why. out: where its tables go, if there are some.

    >>> reason(RuntimeError("Job aborted\\nTraceback ...\\nOSError: no such file\\n\\tat org.apache"))
    'OSError: no such file'
    """
    text = str(problem)
    if said := no_space(text, out):
        return said
    for telling in _TELLING:
        if found := telling.search(text):
            return found[1].strip()[:_LONGEST]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines or [type(problem).__name__])[0][:_LONGEST]


def no_space(text: str, out: Path | None = None) -> str | None:
    """What to do if a message is about a disk that is full; None for others. The JVM does not say which
    one: it is the fuller one of where Spark works and `out`. Raises OSError."""
    if _FULL not in text:
        return None
    work = Path(tempfile.gettempdir())
    if out and out.exists() and shutil.disk_usage(out).free < shutil.disk_usage(work).free:
        return f"no space left in {out}: free some, or name another folder by --out"
    return f"no space left in {work}, {_ADVICE}"


def check_space() -> None:
    """Raises UnavailableError if there is no space where Spark works: its JVM would neither start nor end.
    Raises OSError."""
    work = Path(tempfile.gettempdir())
    if shutil.disk_usage(work).free < _LEAST:
        raise UnavailableError(f"no space left in {work}, {_ADVICE}")
