"""Processes that are forked by a program which has loaded a library of the tests' own."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from barnabas.fuzz.targets.clients.child import Child
from barnabas.fuzz.targets.clients.fork_server import ForkServer
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.python import program
from tests.peers.test_guard import gone

OWN = """
import os, sys, threading
assert threading.active_count() == 1
print("loaded", os.getpid(), file=sys.stderr, flush=True)

def who(bootstrap, topic):
    print("said in the log", file=sys.stderr, flush=True)
    return os.getpid()

def die(bootstrap, topic):
    print("c.c:1: f: Assertion `own' failed.", file=sys.stderr, flush=True)
    os.abort()
"""


class Forking(NamedTuple):
    server: ForkServer
    folder: Path
    selector: selectors.DefaultSelector

    def child(self) -> Child:
        return Child(Program(()), self.folder, self.selector, server=self.server)

    def said(self, child: Child, run: str) -> dict[str, Any]:
        """What it says to a session, once it has said that it is ready."""
        child.tell(json.dumps({"number": 1, "run": run, "bootstrap": "b", "topic": "t"}))
        while len(child.answers) < 2 and not child.ended:
            for key, events in self.selector.select():
                key.data(events)
        return child.answers[-1]


@contextlib.contextmanager
def _forking(folder: Path, library: str = OWN) -> Iterator[Forking]:
    (folder / "own_sessions.py").write_text(library)
    line = [one for one in program(Path(sys.executable), "own").line if one != "-E"]
    with selectors.DefaultSelector() as selector:
        server = ForkServer(Program(line, {"PYTHONPATH": str(folder)}), folder)
        try:
            yield Forking(server, folder, selector)
        finally:
            server.close()


def test_each_is_a_process_of_its_own_and_loads_nothing_more(tmp_path: Path) -> None:
    with _forking(tmp_path) as forking:
        children = [forking.child() for _ in range(3)]
        try:
            told = [forking.said(child, "who")["records"] for child in children]
            assert told == [child.pid for child in children]
            assert len(set(told)) == 3
            assert [child.log() for child in children] == [("said in the log",)] * 3
        finally:
            for child in children:
                child.end()


def test_a_death_by_a_signal_is_told_with_its_words(tmp_path: Path) -> None:
    with _forking(tmp_path) as forking:
        dying, other = forking.child(), forking.child()
        try:
            forking.said(dying, "die")
            death = dying.death(timeout=60.0)
            assert death.exit_code == -signal.SIGABRT
            assert "Assertion `own' failed." in death.last_words
            assert "own_sessions.py" in death.last_words  # by faulthandler
            assert forking.said(other, "who")["records"] == other.pid
        finally:
            dying.end()
            other.end()


def test_behind_the_death_of_who_forks_nobody_stays_and_others_start(tmp_path: Path) -> None:
    with _forking(tmp_path) as forking:
        one = forking.child()
        server = _parent(one.pid)
        os.kill(server, signal.SIGKILL)
        assert one.death(timeout=60.0).exit_code == -signal.SIGKILL
        assert gone(one.pid)
        other = forking.child()
        try:
            assert forking.said(other, "who")["records"] == other.pid
            assert _parent(other.pid) != server
        finally:
            one.end()
            other.end()


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_who_hangs_is_ended_and_who_is_told_no_more_ends(tmp_path: Path) -> None:
    with _forking(tmp_path) as forking:
        hangs = forking.server.start(sys.stderr.fileno())
        assert hangs.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            hangs.wait(0.01)
        assert hangs.stdin is not None
        assert hangs.stdout is not None
        with hangs.stdout:
            hangs.stdin.close()
            assert hangs.wait(60.0) == 0 == hangs.poll()
        computes = forking.child()
        forking.said(computes, "who")
        assert computes.death(timeout=0.01).exit_code == -signal.SIGKILL
        computes.end()


def test_a_library_that_can_not_be_loaded_is_said(tmp_path: Path) -> None:
    with (
        _forking(tmp_path, "import no_such_library") as forking,
        pytest.raises(OSError, match="No module named 'no_such_library'"),
    ):
        forking.child()
