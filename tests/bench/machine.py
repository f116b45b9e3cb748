"""What the bench runs on, and what processes cost."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import platform
from pathlib import Path

PROC = Path("/proc")


def describe() -> str:
    """The machine in a line."""
    return ", ".join(
        (
            f"{cores()} cores",
            platform.machine(),
            f"{platform.python_implementation()} {platform.python_version()}",
            f"uvloop {version('uvloop')}"
            if importlib.util.find_spec("uvloop")
            else "no uvloop: asyncio",
            platform.system(),
        )
    )


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def version(package: str) -> str:
    """The version of an installed package; `not installed` if it is not."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def family(pid: int) -> list[int]:
    """A process and all below it (socat forks for each connection); none where /proc is missing."""
    children: dict[int, list[int]] = {}
    for entry in PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            children.setdefault(int(_fields(entry)[1]), []).append(int(entry.parent.name))
    found = [pid] if (PROC / str(pid)).exists() else []
    for member in found:
        found += children.get(member, [])
    return found


def cpu_seconds(pid: int) -> float | None:
    """What a process, those below it and those that ended have used; None where it can't be told."""
    members = family(pid)
    ticks = 0
    for member in members:
        with contextlib.suppress(OSError):
            # utime, stime, and the same of children that were waited for
            ticks += sum(int(field) for field in _fields(PROC / str(member) / "stat")[11:15])
    return ticks / os.sysconf("SC_CLK_TCK") if members else None


def peak_mib(pid: int) -> float | None:
    """The most memory that a process has had resident."""
    with contextlib.suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return None


def resident_kib(pid: int) -> float | None:
    """The memory that a process and those below it have resident now."""
    total = 0.0
    for member in family(pid):
        with contextlib.suppress(OSError):
            for line in (PROC / str(member) / "status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    total += int(line.split()[1])
    return total or None


def _fields(stat: Path) -> list[str]:
    """The fields behind the name, which may hold anything but ends with the last bracket."""
    return stat.read_text().rpartition(")")[2].split()
