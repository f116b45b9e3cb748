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


@pytest.mark.parametrize("command", [("scenario", "check"), ("rehearse",), ("proxy", "-b", "a:1")])
def test_a_fault_that_nobody_knows_may_be_of_the_users_own(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "s.yaml").write_text(RULE.format(fault="{wander: 3}"))
    rest = {"rehearse": ("s.yaml", SAMPLE), "proxy": ("--scenario", "s.yaml")}
    found = run(*command, *rest.get(command[0], ("s.yaml",)), cwd=tmp_path)
    said = "unknown key 'wander' in do; faults of your own are loaded with --faults MODULE:TUPLE"
    assert (found.returncode, found.stderr) == (2, f"barnabas: s.yaml:3: {said}\n")


@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_each_file_is_checked_whatever_is_wrong_with_others(
    strict: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "good.yaml").write_text(RULE.format(fault="close"))
    (tmp_path / "bad.yaml").write_text(RULE.format(fault="clos") + "rulse: 1\n")
    (tmp_path / "idle.yaml").write_text(RULE.format(fault="{delay: 0ms}"))
    files = ("bad.yaml", "gone.yaml", "good.yaml", "idle.yaml")
    found = run("scenario", "check", *files, *strict, cwd=tmp_path)
    assert found.returncode == 2
    assert "good.yaml: fine, 1 rule\n" in found.stdout
    assert "idle.yaml: loads, with 1 warning, 1 rule\n" in found.stdout
    assert found.stderr == (
        "barnabas: bad.yaml:3: unknown fault 'clos' in do; did you mean 'close'?\n"
        "bad.yaml:4: unknown key 'rulse' in the scenario; did you mean 'rules'?\n"
        "can't read the scenario: no scenario and no file 'gone.yaml'; see `barnabas scenario list`\n"
    )


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = run("scenario", "check", "pipe", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (2, "barnabas: pipe:1: the file is empty\n")


def test_a_pipe_is_read_to_its_end() -> None:
    command = [*BARNABAS, "scenario", "check", "/dev/stdin"]
    text = RULE.format(fault="close")
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert found.stdout == "/dev/stdin: fine, 1 rule\n"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            None,
            "can't read the scenario: no scenario and no file 'zzz.yaml'; "
            "see `barnabas scenario list`",
        ),
        (b"\xff", "zzz.yaml:1: the file is not UTF-8"),
    ],
)
def test_what_can_not_be_shown_is_one_line(
    written: bytes | None, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "zzz.yaml"
    file.mkdir() if written is None else file.write_bytes(written)
    found = run("scenario", "show", "zzz.yaml", cwd=tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"barnabas: {said}\n"
