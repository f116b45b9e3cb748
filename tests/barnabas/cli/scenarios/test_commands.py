from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import BARNABAS

RULE = "version: 1\nrules:\n- {{name: r, do: {fault}}}\n"


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


def test_a_pipe_is_read_to_its_end() -> None:
    command = [*BARNABAS, "scenario", "check", "/dev/stdin"]
    text = RULE.format(fault="close")
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert found.stdout == "/dev/stdin: fine, 1 rule\n"
