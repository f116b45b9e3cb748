"""Processes of ours: they start, say why they don't, and do not outlive the one that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.testing import process
from barnabas.testing.process import LAST, Ended, last_lines, running
from tests.waiting import until

PROXY = ("proxy", "-b", "127.0.0.1:1", "-l", "127.0.0.1:0", "--log", "json")
SOON = 30.0


def alive(pid: int) -> bool:
    """Whether it runs; one that ended and was not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_it_runs_between_its_ready_line_and_the_end(tmp_path: Path) -> None:
    with running(PROXY, tmp_path, "it") as it:
        assert it.ready["pid"] == it.popen.pid
        it.check()
        assert os.getsid(it.popen.pid) != os.getsid(0), "Ctrl-C is not for it"
    assert it.popen.returncode == 0
    assert "stopping: 0 connections to drain" in (tmp_path / "it.log").read_text()


def test_one_that_was_killed_is_found_out_at_once_or_in_the_end(tmp_path: Path) -> None:
    def kill(look: bool) -> None:
        with running(PROXY, tmp_path, "it") as it:
            it.popen.kill()
            if look:
                it.check(wait=SOON)
                pytest.fail("it was not found out")

    for look in (True, False):
        with pytest.raises(Ended, match=r"ended with signal 9:\nlistening on"):
            kill(look)


def test_one_that_hangs_is_killed_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STOP", 0.2)
    pids: list[int] = []

    def hang() -> None:
        with running(PROXY, tmp_path, "it") as hanging:
            pids.append(hanging.popen.pid)
            hanging.popen.send_signal(signal.SIGSTOP)

    with pytest.raises(Ended, match=r"did not stop within 0\.2 s and was killed"):
        hang()
    assert not alive(pids[0])


def test_it_ends_with_the_process_that_started_it_even_if_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, pathlib\n"
        "from barnabas.testing.process import running\n"
        f"with running({PROXY!r}, pathlib.Path(sys.argv[1]), 'it') as process:\n"
        "    print(process.popen.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        stdout=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert killed.returncode == -9
    pid = int(killed.stdout)
    until(lambda: not alive(pid))
    assert "stopping: 0 connections to drain" in (tmp_path / "it.log").read_text(), "in good order"


def test_of_much_that_it_said_the_last_lines_are_told(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(LAST + 5)]
    (tmp_path / "it.log").write_text("\n".join([*lines, "edit: x", ""]))
    assert last_lines(tmp_path / "it.log").splitlines() == lines[5:]


def test_why_it_does_not_start_is_told(tmp_path: Path) -> None:
    with (
        pytest.raises(Ended, match=r"^barnabas: 'nonsense:port' is not an address"),
        running(("proxy", "-b", "nonsense:port"), tmp_path, "it"),
    ):
        pytest.fail("it does not start")
