"""A file is closed while its writer goes on, one at a time."""

from __future__ import annotations

import errno
import os
import threading
from functools import partial
from pathlib import Path

from barnabas.captures.writing.closer import Closer


def opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT)


def test_the_caller_goes_on_while_one_is_closed(tmp_path: Path) -> None:
    gate, done = threading.Event(), list[bool]()
    closer = Closer(lambda problem: None)
    assert closer.wait(0), "there is none"
    closer.close(opened(tmp_path / "f"), lambda: done.append(gate.wait(30)))
    assert not closer.wait(0)
    assert done == []
    gate.set()
    assert closer.wait()
    assert done == [True]


def test_one_after_the_other(tmp_path: Path) -> None:
    busy, done = threading.Lock(), list[int]()

    def then(number: int) -> None:
        assert busy.acquire(blocking=False)
        threading.Event().wait(0.001)
        done.append(number)
        busy.release()

    closer = Closer(lambda problem: None)
    for number in range(20):
        closer.close(opened(tmp_path / "f"), partial(then, number))
    assert closer.wait()
    assert done == list(range(20))


def test_what_can_not_be_closed_is_said_and_done_with(tmp_path: Path) -> None:
    said: list[int | None] = []
    file = opened(tmp_path / "f")
    os.close(file)
    closer = Closer(lambda problem: said.append(problem.errno))
    closer.close(file, lambda: said.append(0))
    assert closer.wait()
    assert said == [errno.EBADF, 0]
