"""Ctrl-C is quiet whenever it comes: while modules load, while a command runs, and at the very end. And no
line is lost."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any, cast

import pytest

from barnabas import entry

SIGNAL = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"

LOADING = f"""
class Finder:
    @staticmethod
    def find_spec(name, path, target=None):
        if name == "barnabas.cli.peers.commands":
            {SIGNAL}
sys.meta_path.insert(0, Finder)
"""

RUNNING = f"""
import barnabas.cli.peers.run
def kinds():
    {SIGNAL}
    return []
barnabas.cli.peers.run.kinds = kinds
"""

MAKING_A_CLASS = f"""
import barnabas.cli.peers.run
class Field:
    def __set_name__(self, owner, name):
        {SIGNAL}
def kinds():
    type("Row", (), {{"field": Field()}})
    return []
barnabas.cli.peers.run.kinds = kinds
"""

LOST = f"""
import signal, weakref
import barnabas.cli.peers.run
class Module:
    pass
def kinds():
    module = Module()
    reference = weakref.ref(module, lambda _: exec("{SIGNAL}"))
    del module
    signal.pause()  # until the interrupt comes again: Python ignores exceptions of the callback
    return []
barnabas.cli.peers.run.kinds = kinds
"""

ENDING = f"""
import atexit
def end():
    {SIGNAL}
atexit.register(end)
"""


def ended(when: str, handler: str = "default_int_handler") -> tuple[int, str]:
    """The exit code and stderr of a command that SIGINT comes to."""
    code = (
        f"import signal, sys\nsignal.signal(signal.SIGINT, signal.{handler})\n{when}\n"
        "sys.argv = ['barnabas', 'peers', 'list']\nfrom barnabas.entry import main\nmain()\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    return found.returncode, found.stderr


WHENEVER = pytest.mark.parametrize(
    "when",
    [LOADING, RUNNING, MAKING_A_CLASS, ENDING],
    ids=["loading", "running", "making a class", "ending"],
)


@WHENEVER
def test_ctrl_c_ends_it_with_130_and_without_a_word(when: str) -> None:
    assert ended(when) == (130, "")


def test_an_interrupt_that_python_loses_in_a_callback_comes_again() -> None:
    assert ended(LOST) == (130, "")


@WHENEVER
def test_who_ignores_it_is_not_ended(when: str) -> None:
    """As a shell has it for what it starts in the background."""
    assert ended(when, "SIG_IGN") == (0, "")


AT_AN_IMPORT = """
import os, sys
class Finder:
    left = None
    @classmethod
    def find_spec(cls, name, path, target=None):
        if name == "barnabas.entry":
            cls.left = {number}
        elif cls.left is not None:
            cls.left -= 1
            if cls.left == 0:
                os.kill(os.getpid(), 2)
sys.meta_path.insert(0, Finder)
sys.modules.pop("signal", None)
sys.argv = ["barnabas", *{words!r}]
from barnabas.entry import main
main()
"""


@pytest.mark.parametrize("number", [1, 5, 200])
@pytest.mark.parametrize(
    "words",
    [("--help",), ("decode", "none.pcapng"), ("proxy", "-b", "127.0.0.1:1", "-l", "127.0.0.1:0")],
    ids=lambda words: words[0],
)
def test_ctrl_c_at_any_import_is_quiet(words: tuple[str, ...], number: int) -> None:
    """Of what the entry point itself needs, of the command line, and of the command."""
    code = AT_AN_IMPORT.format(number=number, words=words)
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.returncode, found.stderr) == (130, "")


class Short(io.RawIOBase):
    """A file that takes three bytes at a time."""

    def __init__(self) -> None:
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        some = bytes(memoryview(data)[:3])  # type: ignore[arg-type]
        self.taken += some
        return len(some)


def test_stdout_without_a_buffer_gets_one_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = Short()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(cast(Any, file), write_through=True))
    entry._buffer_stdout()
    print("one line")
    assert file.taken == b"one line\n"
