"""What a process started ends with it, however it ends. No Java in here."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from barnabas.peers.guard import Guard
from tests.places import ROOT

HOLDER = """
import sys
from pathlib import Path
from barnabas.peers import processes
processes.guard().enter(Path(sys.argv[1]))
children = [processes.start(["sleep", "600"], stdout=-3) for _ in range(2)]
print(processes.guard()._process.pid, *(child.pid for child in children), flush=True)
{then}
"""


def gone(pid: int, seconds: float = 10) -> bool:
    """Whether a process ends within so many seconds."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], seconds)[0])
    finally:
        os.close(watched)


@pytest.mark.parametrize(
    "then",
    ["import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "sys.exit()", "raise RuntimeError"],
)
def test_children_and_directory_go_with_their_process(then: str, tmp_path: Path) -> None:
    directory = tmp_path / "files"
    (directory / "data").mkdir(parents=True)
    (directory / "data" / "log").touch()
    line = [sys.executable, "-c", HOLDER.format(then=then), str(directory)]
    how: Any = {"capture_output": True, "text": True, "timeout": 60, "check": False, "cwd": ROOT}
    holder = subprocess.run(line, **how)
    guard, *children = [int(pid) for pid in holder.stdout.split()]
    assert gone(guard)
    assert len(children) == 2
    assert all(gone(child) for child in children)
    assert not directory.exists()


def test_what_left_lives_on(tmp_path: Path) -> None:
    guard = Guard()
    guard.enter(tmp_path)
    guard.leave(tmp_path)
    with (
        subprocess.Popen(["sleep", "600"], start_new_session=True) as left,
        subprocess.Popen(["sleep", "600"], start_new_session=True) as entered,
    ):
        guard.enter(left.pid)
        guard.enter(entered.pid)
        guard.leave(left.pid)
        guard.close()
        assert entered.wait(10) == -signal.SIGKILL
        assert left.poll() is None
        left.kill()
    assert tmp_path.exists()


def test_a_guard_that_was_killed_disturbs_nobody() -> None:
    guard = Guard()
    guard._process.kill()
    guard._process.wait()
    guard.enter(1)
    guard.close()
