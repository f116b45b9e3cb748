"""How much processor time a process has had (Linux: /proc; elsewhere it is not known)."""

from __future__ import annotations

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
