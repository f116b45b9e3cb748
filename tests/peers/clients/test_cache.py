"""What is waited for while a client is got, and ends when all is to end."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from barnabas.peers.clients.cache import folder, run
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.stopping import ended_by
from tests.peers.test_guard import gone

STARTS = """
import subprocess, sys
from pathlib import Path
child = subprocess.Popen(["sleep", "600"])
Path(sys.argv[1]).write_text(f"{child.pid}\\n")
child.wait()
"""


@contextlib.contextmanager
def ended_soon() -> Iterator[None]:
    """All is to end shortly after this began."""
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    with ended_by(stop):
        yield
    timer.join()


def test_a_command_tells_what_it_printed_or_said_last(tmp_path: Path) -> None:
    assert run("odd", [sys.executable, "-c", "print(1)"]) == "1\n"
    with pytest.raises(UnavailableClientError, match=r"^odd: one \| two$"):
        run("odd", ["sh", "-c", "echo one >&2; echo two >&2; exit 3"])
    with pytest.raises(UnavailableClientError, match=r"^odd: .*No such file"):
        run("odd", [str(tmp_path / "none")])


def test_a_command_takes_no_longer_than_it_may() -> None:
    with pytest.raises(UnavailableClientError, match=r"^odd: it had not ended after 0.2 s$"):
        run("odd", ["sleep", "600"], seconds=0.2)


def test_a_command_ends_with_what_it_started(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    stop = threading.Event()

    def started() -> None:
        while not (told.exists() and told.read_text().endswith("\n")):
            time.sleep(0.01)
        stop.set()

    watching = threading.Thread(target=started, daemon=True)
    watching.start()
    with ended_by(stop), pytest.raises(UnavailableClientError, match=r"^odd: interrupted$"):
        run("odd", [sys.executable, "-c", STARTS, str(told)])
    assert gone(int(told.read_text()))


def holds(told: Connection) -> None:
    with folder("held"):
        told.send("held")
        told.recv()


def test_a_folder_of_another_process_is_not_waited_for_once_all_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    here, there = multiprocessing.Pipe()
    other = multiprocessing.get_context("spawn").Process(target=holds, args=(there,), daemon=True)
    other.start()
    assert here.recv() == "held"
    with (
        ended_soon(),
        pytest.raises(UnavailableClientError, match="used by another process: interrupted"),
        folder("held"),
    ):
        pass
    here.send("over")
    other.join()
    with folder("held") as place:
        assert place.is_dir()


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            "ERROR: no version satisfies a==9 (from versions: 0.1, 0.2)\nERROR: No match for a==9",
            "a: ERROR: no version satisfies a==9 | ERROR: No match for a==9",
        ),
        ("npm error code ECONNREFUSED\n1\n2\n3\n4", "a: npm error code ECONNREFUSED | 2 | 3 | 4"),
    ],
)
def test_the_cause_is_said_and_no_list(printed: str, said: str) -> None:
    line = [sys.executable, "-c", f"import sys; sys.exit({printed!r})"]
    with pytest.raises(UnavailableClientError) as raised:
        run("a", line)
    assert str(raised.value) == said
