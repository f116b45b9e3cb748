"""How much processor time a process has had, and how long it stood for it (Linux: /proc; elsewhere it is
not known)."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def spent(pid: int | None) -> float | None:
    """Seconds that all threads of a process have had; None: not known.

    >>> spent(None), 0 < (spent(os.getpid()) or 1)
    (None, True)
    """
    if pid is None:
        return None
    try:
        # proc_pid_stat(5): the name is in brackets and may be anything; utime and stime are 14 and 15
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def delayed(pid: int, only: int | None = None) -> float:
    """Seconds that threads of a process, or only one of them, stood ready and had no processor; 0.0: not
    known.

    >>> delayed(os.getpid()) >= 0, delayed(-1)
    (True, 0.0)
    """
    return sum((waited for _, waited in threads(pid, only).values()), 0.0)


def threads(pid: int, only: int | None = None) -> dict[int, tuple[float, float]]:
    """By its id, the seconds of a processor that each thread of a process, or only one, has had, and those
    that it stood ready without one (Linux: schedstat); none: not known.

    >>> had, waited = threads(os.getpid()).get(os.getpid(), (1.0, 0.0))
    >>> had > 0, waited >= 0
    (True, True)
    """
    found = {}
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").glob("*" if only is None else str(only)):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                had, waited, _ = (thread / "schedstat").read_text().split()
                found[int(thread.name)] = int(had) / 1e9, int(waited) / 1e9
    return found
