from __future__ import annotations

import subprocess
import sys

import pytest

from tests.remaining import remaining


def program(text: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_what_was_read_beyond_a_line_is_there() -> None:
    first = "import sys; input(); print('one\\ntwo', flush=True); "
    both = first + "sys.stderr.write('three\\nfour\\n' + 'x' * 200_000)"
    with program(both) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert (process.stdout.readline(), process.stderr.readline()) == ("one\n", "three\n")
        assert remaining(process, 30) == ("two\n", "four\n" + "x" * 200_000)
    assert process.returncode == 0


def test_what_does_not_end_is_killed() -> None:
    with program("input()") as process, pytest.raises(subprocess.TimeoutExpired):
        remaining(process, 0)
    assert process.returncode == -9
