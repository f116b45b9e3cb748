"""Errors of Spark before anything is read; each message has a remedy."""

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
"""strerror of ENOSPC, in any message around it."""
_ADVICE: Final = "where Spark works: free some, or name another folder by TMPDIR"
_LEAST: Final = 64 << 10
"""With fewer free bytes than this the JVM hung."""


class UnavailableError(RuntimeError):
    """Java, pyspark, the cluster or packages of its workers are missing or do not respond."""


def reason(problem: BaseException, out: Path | None = None) -> str:
    r"""Return the line of Spark's long message that has the reason.

    `out` is the folder for tables, if there is one.

    >>> reason(RuntimeError("Job aborted\nTraceback ...\nOSError: no such file\n\tat org.apache"))
    'OSError: no such file'
    """
    text = str(problem)
    if remedy := no_space(text, out):
        return remedy
    for pattern in _TELLING:
        if matched := pattern.search(text):
            return matched[1].strip()[:_LONGEST]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines or [type(problem).__name__])[0][:_LONGEST]


def no_space(text: str, out: Path | None = None) -> str | None:
    """Return a remedy if a message is about a full disk, else None. Raises OSError.

    The JVM does not name the disk: it is the fuller one of Spark's working folder and `out`.
    """
    if _FULL not in text:
        return None
    work = Path(tempfile.gettempdir())
    if out and out.exists() and shutil.disk_usage(out).free < shutil.disk_usage(work).free:
        return f"no space left in {out}: free some, or name another folder by --out"
    return f"no space left in {work}, {_ADVICE}"


def check_space() -> None:
    """Raise UnavailableError if Spark's working folder has no space: its JVM would hang. Raises OSError."""
    work = Path(tempfile.gettempdir())
    if shutil.disk_usage(work).free < _LEAST:
        raise UnavailableError(f"no space left in {work}, {_ADVICE}")
