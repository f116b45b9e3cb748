"""What the bench runs on, and what processes cost."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")

_TIMER = """
import json, resource, subprocess, sys, time
begun = time.perf_counter()
code = subprocess.call(sys.argv[2:], timeout=float(sys.argv[1]))
took = time.perf_counter() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, took, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


def describe() -> str:
    """Describe the machine in one line."""
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
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def bind_to_one_core() -> None:
    """Have this process, and those that it starts, run on one core only. Linux only."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def version(package: str) -> str:
    """Return the version of an installed package, or `not installed`."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


class Cost(NamedTuple):
    """Time, CPU time, memory and output of a command."""

    seconds: float
    cpu: float
    peak_mib: float
    output: str


def cost(command: Sequence[str], timeout: float) -> Cost:
    """Run a command in a process of its own. Raises RuntimeError if it fails, or takes too long.

    A small process stands in between: a child counts as its peak what its parent had when it began.
    """
    timer = [sys.executable, "-I", "-S", "-c", _TIMER, str(timeout)]
    pids = subprocess.run([*timer, *command], capture_output=True, text=True)
    output, _, figures = pids.stdout.rstrip("\n").rpartition("\n")
    code, seconds, cpu, peak = json.loads(figures) if not pids.returncode else (None, 0.0, 0.0, 0)
    if code != 0:
        said = pids.stderr.strip().rpartition("\n")[2]
        raise RuntimeError(f"{command[0]} failed: {said or f'exit code {code}'}")
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return Cost(seconds, cpu, peak * unit / (1 << 20), output)


def family(pid: int) -> list[int]:
    """Return the pids of a process and its descendants (socat forks for each connection).

    The list is empty without /proc.
    """
    children: dict[int, list[int]] = {}
    for entry in PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            children.setdefault(int(_fields(entry)[1]), []).append(int(entry.parent.name))
    pids = [pid] if (PROC / str(pid)).exists() else []
    for member in pids:
        pids += children.get(member, [])
    return pids


def cpu_seconds(pid: int) -> float | None:
    """Return the CPU seconds of a process, its descendants and its ended children; None if unknown."""
    members = family(pid)
    ticks = 0
    for member in members:
        with contextlib.suppress(OSError):
            # utime, stime, and the same of children that were waited for
            ticks += sum(int(field) for field in _fields(PROC / str(member) / "stat")[11:15])
    return ticks / os.sysconf("SC_CLK_TCK") if members else None


def peak_mib(pid: int) -> float | None:
    """Return the peak resident memory of a process in MiB."""
    with contextlib.suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return None


def resident_kib(pid: int) -> float | None:
    """Return the resident memory of a process and its descendants in KiB; shared pages count once."""
    total = 0.0
    for member in family(pid):
        with contextlib.suppress(OSError):
            for line in (PROC / str(member) / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total or None


def write_rates(folder: Path, size: int) -> tuple[float, float]:
    """Bytes a second that are written to a new file there, and once more in the memory that it gave back.

    A virtual machine pays for pages that it touches for the first time.
    """
    block, rates = bytes(1 << 20), []
    for _ in range(2):
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            begun = time.perf_counter()
            for _ in range(size >> 20):
                file.write(block)
            rates.append(size / (time.perf_counter() - begun))
    return rates[0], rates[1]


def _fields(stat: Path) -> list[str]:
    """Return the fields of a stat file after the command's name, which may contain spaces and brackets."""
    return stat.read_text().rpartition(")")[2].split()
