"""Sessions side by side in one program in Python, with a library of the tests' own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from barnabas.peers.clients.python import program

OWN = """
import threading, time
from lines import delivered, in_background, wanted

def wait(bootstrap, topic):
    delivered(0, int(bootstrap), None, None, None, None)
    while wanted():
        time.sleep(0.001)
    return 1

def fail():
    raise ValueError("in the background")

def thread(bootstrap, topic):
    one = threading.Thread(target=threading.Thread(target=fail).run)
    one.start()
    one.join()
    return 2

def unknown(bootstrap, topic):
    in_background(ValueError("somebody's"), "thread")
    return 3
"""


class Told:
    """A program that was started: lines go in, its answers come out."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self.said() == {"ready": True}

    def tell(self, **line: Any) -> None:
        """Give it a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def said(self) -> dict[str, Any]:
        """Its next line."""
        assert self._process.stdout is not None
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found


@contextmanager
def own_program(folder: Path) -> Iterator[Told]:
    """A program whose library is in a folder."""
    line = [one for one in program(Path(sys.executable), "own").line if one != "-E"]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    with subprocess.Popen(line, env=environment, **pipes) as process:
        yield Told(process)
        assert process.stdin is not None
        process.stdin.close()


@contextmanager
def _program(folder: Path) -> Iterator[Told]:
    (folder / "own_sessions.py").write_text(OWN)
    with own_program(folder) as told:
        yield told


def _asked(number: int, run: str) -> dict[str, Any]:
    return {"number": number, "run": run, "bootstrap": str(number), "topic": "t", "api": "-"}


def test_each_session_is_told_its_own_end_and_tells_its_own_records(tmp_path: Path) -> None:
    with _program(tmp_path) as told:
        for number in (1, 2, 3):
            told.tell(**_asked(number, "wait"))
        for number in (2, 3, 1):
            told.tell(number=number, over=True)
            said = told.said()
            assert (said["number"], said["records"], said["raised"]) == (number, 1, None)
            assert [one[1] for one in said["delivered"]] == [number]


@pytest.mark.parametrize(("run", "sure"), [("thread", True), ("unknown", False)])
def test_what_ends_in_the_background_is_told_with_its_session(
    tmp_path: Path, run: str, sure: bool
) -> None:
    with _program(tmp_path) as told:
        told.tell(**_asked(1, "wait"))
        told.tell(**_asked(2, run))
        said = told.said()
        assert (said["number"], said["raised"]["class"]) == (2, "ValueError")
        assert said["raised"].get("unsure", False) != sure
        told.tell(number=1, over=True)
        other = told.said()["raised"]
        assert (other is None) == sure
