"""Processes and folders that end with who started them, or when they are ended."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
from multiprocessing.connection import Connection

import pytest

from barnabas.peers import processes
from tests.peers.test_guard import gone

DEAF = "trap '' TERM; sleep 600 & echo $!; while :; do wait; done"


@pytest.mark.parametrize("patience", [0.0, 0.1])
def test_a_process_ends_with_what_it_started(patience: float) -> None:
    process = processes.start(["sh", "-c", DEAF], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as said:
        child = int(said.readline())
    processes.end(process, patience)
    assert process.returncode == -signal.SIGKILL
    assert gone(child)


def test_one_that_ends_when_it_is_asked_is_not_killed() -> None:
    trap = "trap 'exit 3' TERM; echo ready; kill -STOP $$; while :; do :; done"
    process = processes.start(["sh", "-c", trap], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as output:
        output.readline()
    processes.end(process, 60.0)
    assert process.returncode == 3


def test_a_folder_is_removed_at_its_end() -> None:
    with processes.folder() as folder:
        (folder / "data").mkdir()
    assert not folder.exists()


def _starts(told: Connection) -> None:
    told.send((processes.guard()._process.pid, processes.start(["sleep", "600"]).pid))
    told.recv()


def test_a_forked_process_has_a_guard_of_its_own_and_does_not_hold_ours() -> None:
    ours = processes.guard()
    here, there = multiprocessing.Pipe()
    forked = multiprocessing.get_context("fork").Process(target=_starts, args=(there,))
    forked.start()
    guard, started = here.recv()
    assert guard != ours._process.pid
    processes._close()  # returns although the other process lives
    forked.kill()
    forked.join()
    assert gone(started)
    assert gone(guard)
