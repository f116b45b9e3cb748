"""Signals that ask to end, in a process of its own: what is ignored is inherited."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = "from barnabas.endings import endings; print(*(one.name for one in endings()))"


@pytest.mark.parametrize(
    ("outer", "heard"), [((), "SIGINT SIGTERM SIGHUP\n"), (("nohup",), "SIGINT SIGTERM\n")]
)
def test_a_hang_up_is_one_unless_it_is_to_be_outlived(outer: tuple[str, ...], heard: str) -> None:
    line = [*outer, sys.executable, "-c", CODE]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == heard
