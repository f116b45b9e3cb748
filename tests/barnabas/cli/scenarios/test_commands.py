from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import BARNABAS, SAMPLE

OWN = """
from barnabas.proxy.effects import Wait
from barnabas.proxy.matching.settings import Settings
from pydantic import model_validator

class Applies(Settings):
    def applies_to(self, key, direction, version):
        raise RuntimeError("two\\nlines")

class Across(Settings):
    @property
    def across(self):
        raise SystemExit("none")

class Checks(Settings):
    @model_validator(mode="after")
    def wrong(self):
        raise KeyError("a")

def wait(config, message, roll):
    return (Wait(1),)

FAULTS = (("applies", Applies, wait), ("across", Across, wait), ("checks", Checks, wait))
"""

RULE = "version: 1\nrules:\n- {{name: r, do: {fault}}}\n"


@pytest.mark.parametrize("command", [("scenario", "check"), ("rehearse",)])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("applies", "applies: its applies_to raised RuntimeError: two lines"),
        ("across", "across: its settings raised SystemExit: none"),
        ("checks", "checks: its settings raised KeyError: 'a'"),
    ],
)
def test_settings_of_the_users_own_that_raise_are_one_line(
    command: tuple[str, ...], fault: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "own_faults.py").write_text(OWN)
    (tmp_path / "s.yaml").write_text(RULE.format(fault=fault))
    capture = (SAMPLE,) if command == ("rehearse",) else ()
    found = run(*command, "s.yaml", *capture, "--faults", "own_faults:FAULTS", cwd=tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"barnabas: s.yaml:3: {said}\n"


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = run("scenario", "check", "pipe", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (2, "barnabas: pipe:1: the file is empty\n")


def test_a_pipe_is_read_to_its_end() -> None:
    command = [*BARNABAS, "scenario", "check", "/dev/stdin"]
    text = RULE.format(fault="close")
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert found.stdout == "/dev/stdin: fine, 1 rule\n"
