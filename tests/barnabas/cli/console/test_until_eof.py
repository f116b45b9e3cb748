"""`--until-eof`: the end of stdin stops what runs, in good order."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("options", [(), ("--until-eof",)])
def test_without_the_option_stdin_is_nothing_to_it(options: tuple[str, ...]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "barnabas", *options, *COMMANDS[0]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            if options:
                assert process.wait(30) in (0, -15), "before it was ready, or behind"
            else:
                assert process.stdout is not None
                assert '"ready"' in process.stdout.readline()
                assert process.poll() is None
        finally:
            process.terminate()
