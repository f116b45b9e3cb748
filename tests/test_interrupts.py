"""Tests may interrupt the programs that they start, however the tests themselves were started."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEARS = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"


def test_a_child_hears_sigint() -> None:
    child = subprocess.run(
        [sys.executable, "-c", HEARS], capture_output=True, text=True, check=True
    )
    assert child.stdout == "True\n"


@pytest.mark.parametrize("before", ["", "trap '' INT; "])
def test_so_it_does_in_the_background_of_a_shell(before: str) -> None:
    """Which has its commands ignore SIGINT."""
    one = f"{__file__}::{test_a_child_hears_sigint.__name__}"
    shell = ["sh", "-c", f'{before}exec "$@"', "sh", sys.executable, "-m", "pytest"]
    run = subprocess.run([*shell, "-p", "no:cacheprovider", one], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
