"""`--until-eof`: the end of stdin stops what runs, in good order."""

from __future__ import annotations

import subprocess
import sys

import pytest

from barnabas.trouble import COULD_NOT_RUN

COMMANDS = (
    ("proxy", "-b", "127.0.0.1:1", "-l", "127.0.0.1:0"),
    ("peers", "start", "embedded"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_end_of_stdin_stops_it(command: tuple[str, ...]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "barnabas", "--until-eof", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("what stands there is not used\n")
        process.stdin.flush()
        assert '"ready"' in process.stdout.readline()
        assert process.poll() is None
        _, errors = process.communicate(timeout=30)  # closes stdin
    assert process.returncode == 0
    assert "Traceback" not in errors


def test_stdin_that_has_ended_at_the_start_is_reported() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "barnabas", "--until-eof", *COMMANDS[0]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode:  # else the proxy had started before
        assert done.returncode == COULD_NOT_RUN
        assert done.stderr == (
            "barnabas: stdin has ended, which stops this program: keep stdin open, or omit --until-eof\n"
        )


def test_without_the_option_stdin_is_nothing_to_it() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "barnabas", *COMMANDS[0]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert '"ready"' in process.stdout.readline()
            assert process.poll() is None
        finally:
            process.terminate()
