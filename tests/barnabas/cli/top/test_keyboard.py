"""Keys of a terminal that arrive in parts."""

from __future__ import annotations

import os
import threading

import pytest

from barnabas.cli.top import keyboard
from barnabas.cli.top.keyboard import Keyboard


@pytest.mark.parametrize("first", ["\x1b", "\x1b[", "\x1bO"])
def test_an_arrow_that_comes_in_two_parts_is_one_key(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyboard, "REST", 30.0)
    read, write = os.pipe()
    arrow = "\x1b[D" if "O" not in first else "\x1bOD"
    os.write(write, first.encode())
    later = threading.Timer(0.05, os.write, (write, arrow.removeprefix(first).encode()))
    later.start()
    assert Keyboard(read).keys(30.0) == ["left"]
    later.join()
    os.close(read)
    os.close(write)


def test_an_escape_alone_is_escape() -> None:
    read, write = os.pipe()
    os.write(write, b"a\x1b")
    assert Keyboard(read).keys(30.0) == ["a", "escape"]
    os.close(write)
    assert Keyboard(read).keys(30.0) == ["q"]
    os.close(read)
