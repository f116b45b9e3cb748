"""The memory and the processor time of a process, from Linux's /proc; elsewhere they are unknown."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple


class MemoryUse(NamedTuple):
    """The memory of a process in bytes; 0 if unknown.

    Attributes:
        resident: The resident memory.
        peak: The peak of resident memory since `forget_peak`.
        mapped: The address space, whether or not it was ever touched.
        mapped_peak: The peak of the address space since the process began.
    """

    resident: int = 0
    peak: int = 0
    mapped: int = 0
    mapped_peak: int = 0

    def mapped_since(self, before: MemoryUse) -> int:
        """Return by how much the address space grew at most since an earlier moment.

        Growth up to an earlier peak is not seen: Linux can't reset this peak.

        >>> MemoryUse(mapped=5, mapped_peak=9).mapped_since(MemoryUse(mapped=4, mapped_peak=6))
        5
        >>> MemoryUse(mapped=5, mapped_peak=9).mapped_since(MemoryUse(mapped=4, mapped_peak=9))
        0
        """
        return self.mapped_peak - before.mapped if self.mapped_peak > before.mapped_peak else 0


def memory_use(pid: int) -> MemoryUse:
    """Return the memory of a process.

    >>> memory_use(-1)
    MemoryUse(resident=0, peak=0, mapped=0, mapped_peak=0)
    """
    try:
        memory = parse(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return MemoryUse()
    names = ("VmRSS", "VmHWM", "VmSize", "VmPeak")
    return MemoryUse(*(memory.get(name, 0) for name in names))


def forget_peak(pid: int) -> None:
    """Reset the peak of a process's resident memory (Linux: 5 to clear_refs)."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def rss(pid: int | None) -> tuple[int, int] | None:
    """Return the resident bytes of a process: now, and the peak since the last call; None if unknown."""
    if pid is None:
        return None
    memory = memory_use(pid)
    forget_peak(pid)
    return (memory.resident, memory.peak or memory.resident) if memory.resident else None


def parse(status: str) -> dict[str, int]:
    r"""Return the memory lines of /proc/PID/status in bytes.

    >>> parse("Name:\tjava\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n")
    {'VmHWM': 2097152, 'VmRSS': 1048576}
    """
    lines = (line.split() for line in status.splitlines() if line.startswith("Vm"))
    return {words[0].rstrip(":"): int(words[1]) << 10 for words in lines if len(words) == 3}


def spent(pid: int | None) -> float | None:
    """Return the processor seconds of all threads of a process; None if unknown.

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
    """Return the seconds that threads of a process were ready without a processor; 0.0 if unknown.

    only: the id of the only thread that counts.

    >>> delayed(os.getpid()) >= 0, delayed(-1)
    (True, 0.0)
    """
    return sum((waited for _, waited in threads(pid, only).values()), 0.0)


def threads(pid: int, only: int | None = None) -> dict[int, tuple[float, float]]:
    """Return the processor seconds of threads, and the seconds that each was ready without a processor.

    The result is by thread id; it is empty if unknown (Linux: schedstat). only: the id of the only thread
    that counts.

    >>> had, waited = threads(os.getpid()).get(os.getpid(), (1.0, 0.0))
    >>> had > 0, waited >= 0
    (True, True)
    """
    by_thread = {}
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").glob("*" if only is None else str(only)):
            with contextlib.suppress(OSError):  # the thread has ended
                had, waited, _ = (thread / "schedstat").read_text().split()
                by_thread[int(thread.name)] = int(had) / 1e9, int(waited) / 1e9
    return by_thread
