"""How much memory a process holds (Linux: /proc; elsewhere it is not known)."""

from __future__ import annotations

import contextlib
from pathlib import Path


def rss(pid: int | None) -> tuple[int, int] | None:
    """Resident bytes of a process: now, and the most since the last call; None: not known."""
    if pid is None:
        return None
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        with contextlib.suppress(OSError):
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # the mark begins anew
    except OSError:
        return None
    found = parse(status)
    return (found["VmRSS"], found.get("VmHWM", found["VmRSS"])) if "VmRSS" in found else None


def parse(status: str) -> dict[str, int]:
    r"""The lines of /proc/PID/status that tell of memory, in bytes.

    >>> parse("Name:\tjava\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n")
    {'VmHWM': 2097152, 'VmRSS': 1048576}
    """
    lines = (line.split() for line in status.splitlines() if line.startswith("Vm"))
    return {words[0].rstrip(":"): int(words[1]) << 10 for words in lines if len(words) == 3}
