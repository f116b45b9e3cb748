from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from barnabas.proxy.scenario.symptoms import SYMPTOMS
from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import BARNABAS

RULE = "version: 1\nrules:\n- {{name: r, do: {fault}}}\n"
ACKS = "version: 1\nrules:\n- {name: a, do: {delay: 200ms}, match: {api: Fetch, acks: 1}}\n"


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 1)])
def test_a_rule_that_can_not_do_anything_is_not_called_fine(
    options: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    (tmp_path / "right.yaml").write_text(RULE.format(fault="close"))
    (tmp_path / "acks.yaml").write_text(ACKS + "- {name: b, do: close, match: {api: Fetch}}\n")
    found = run("scenario", "check", *options, "acks.yaml", "right.yaml", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (code, "")
    assert found.stdout.splitlines() == [
        "acks.yaml: warning: rule 'a' never fires: only Produce requests have acks, no Fetch message"
        " has",
        "acks.yaml: loads, with 1 warning, 2 rules",
        "right.yaml: fine, 1 rule",
    ]
    (tmp_path / "bad.yaml").write_text(RULE.format(fault="clos") + "rulse: 1\n")
    (tmp_path / "idle.yaml").write_text(RULE.format(fault="{delay: 0ms}"))
    files = ("bad.yaml", "nosuch.yaml", "right.yaml", "idle.yaml")
    found = run("scenario", "check", *files, *options, cwd=tmp_path)
    assert found.returncode == 2
    assert "right.yaml: fine, 1 rule\n" in found.stdout, "whatever is wrong with others"
    assert "idle.yaml: loads, with 1 warning, 1 rule\n" in found.stdout
    assert found.stderr == (
        "barnabas: bad.yaml:3: unknown fault 'clos' in do; did you mean 'close'?\n"
        "bad.yaml:4: unknown key 'rulse' in the scenario; did you mean 'rules'?\n"
        "can't read the scenario: no scenario and no file 'nosuch.yaml'; see `barnabas scenario list`\n"
    )


def test_a_pipe_is_read_to_its_end() -> None:
    command = [*BARNABAS, "scenario", "check", "/dev/stdin"]
    text = RULE.format(fault="close")
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert found.stdout == "/dev/stdin: fine, 1 rule\n"


def test_ready_scenarios_are_found_by_symptom() -> None:
    def listed(*options: str) -> list[str]:
        output = run("scenario", "list", "--json", *options).stdout
        return [json.loads(line)["name"] for line in output.splitlines()]

    by_symptom = {symptom: listed("--symptom", symptom) for symptom in SYMPTOMS}
    assert by_symptom["timestamps"] == ["clock-skew"]
    assert all(by_symptom.values()), "no scenario for a symptom"
    assert sorted({name for found in by_symptom.values() for name in found}) == listed()


def test_the_schema_is_json() -> None:
    assert run("scenario", "schema").document["$schema"].endswith("2020-12/schema")
