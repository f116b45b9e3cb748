from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.barnabas.cli.command import run

CHECKS = "frame/[!s]*,produce/b*,produce/acks*"
"""librdkafka's mock cluster fails some of these checks. Others end it, such as a Produce without records, or
wait 10 s for it: it keeps the connection of an empty frame open.
"""


def test_a_broker_with_faults_fails_the_run(bootstrap: str, tmp_path: Path) -> None:
    ended = run(
        "conform",
        bootstrap,
        "--only",
        CHECKS,
        "--json",
        "c.json",
        "--junit",
        "j.xml",
        cwd=tmp_path,
    )
    assert ended.returncode == 1
    assert "fail  produce/bad-crc (MUST): " in ended.stdout
    assert "→         error_code: 0 (NONE)" in ended.stdout
    assert f"repeat: barnabas conform {bootstrap} --only produce/bad-crc" in ended.stdout
    document = json.loads((tmp_path / "c.json").read_text())
    by_name = {row["name"]: row for row in document["checks"]}
    assert by_name["frame/unknown-api-key"]["outcome"] == "pass"
    wrong = by_name["produce/bad-crc"]
    assert (wrong["outcome"], wrong["expected"], wrong["received"]) == (
        "fail",
        "CORRUPT_MESSAGE",
        "NONE",
    )
    passed = [name for name, row in by_name.items() if row["outcome"] == "pass"]
    frame = document["areas"]["frame"]
    assert frame["passed"] == sum(name.startswith("frame/") for name in passed) < frame["checks"]
    cases = {case.get("name"): case for case in ET.parse(tmp_path / "j.xml").iter("testcase")}
    assert cases["produce/bad-crc"].find("failure") is not None
    assert cases["frame/unknown-api-key"].find("failure") is None


def test_known_failures_do_not_fail_the_run(bootstrap: str, tmp_path: Path) -> None:
    first = run("conform", bootstrap, "--only", CHECKS, "--json", "c.json", cwd=tmp_path)
    assert first.returncode == 1
    rows = json.loads((tmp_path / "c.json").read_text())["checks"]
    known = {row["name"]: "a mock" for row in rows if row["outcome"] == "fail"}
    (tmp_path / "known.yaml").write_text(json.dumps(known))
    again = run("conform", bootstrap, "--only", CHECKS, "--baseline", "known.yaml", cwd=tmp_path)
    assert again.returncode == 0
    assert "known produce/bad-crc" in again.stdout


@pytest.mark.parametrize(
    ("command", "reason"),
    [("false", "--restart ended with exit code 1"), ("nobody", "--restart: nobody: No such file")],
)  # fmt: skip
def test_a_broker_that_is_not_restarted_is_an_error_of_the_check(
    bootstrap: str, command: str, reason: str
) -> None:
    ended = run("conform", bootstrap, "--only", "produce/after-restart", "--restart", command)
    assert ended.returncode == 3
    assert f"error produce/after-restart: {reason}" in ended.stdout


def test_an_empty_command_restarts_nothing(bootstrap: str) -> None:
    ended = run("conform", bootstrap, "--restart", " ")
    assert (ended.returncode, ended.stderr) == (2, "barnabas: --restart: the command is empty\n")


def test_checks_are_listed_and_shown() -> None:
    listed = run("conform", "--list", "--only", "frame/size*").stdout
    assert "frame/size-negative" in listed
    assert "produce/" not in listed
    shown = run("conform", "show", "frame/size-negative").stdout
    assert "NetworkReceive" in shown
    assert "async def size_negative" in shown


def test_checks_are_chosen_by_their_source() -> None:
    listed = run("conform", "--list", "--kip", 511).stdout
    assert "apiversions/too-new" in listed
    assert "metadata/" not in listed
