from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from barnabas.captures.capture import open_capture
from barnabas.peers.apache import ApacheCluster
from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import started

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
        "--html",
        "h.html",
        "--capture",
        "run.pcapng",
        cwd=tmp_path,
    )
    assert ended.returncode == 1
    assert "fail  produce/bad-crc (MUST): " in ended.stdout
    assert "→         error_code: 0 (NONE)" in ended.stdout
    assert f"repeat: barnabas conform {bootstrap} --only produce/bad-crc" in ended.stdout
    assert "source: DefaultRecordBatch.ensureValid https://github.com/search?" in ended.stdout
    document = json.loads((tmp_path / "c.json").read_text())
    by_name = {row["name"]: row for row in document["checks"]}
    assert by_name["frame/unknown-api-key"]["outcome"] == "pass"
    wrong = by_name["produce/bad-crc"]
    assert (wrong["outcome"], wrong["expected"], wrong["received"]) == (
        "fail",
        "CORRUPT_MESSAGE",
        "NONE",
    )
    request, response = wrong["packets"]
    assert f"packets: {request}, {response} of the capture" in ended.stdout
    [exchange] = [
        each
        for each in open_capture(tmp_path / "run.pcapng").exchanges()
        if each.request_packet == request
    ]
    assert (exchange.api, exchange.response_packet) == ("Produce", response)
    assert ' id="produce/bad-crc"' in (tmp_path / "h.html").read_text()
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


def test_a_broker_does_not_differ_from_itself(bootstrap: str) -> None:
    ended = run("conform", bootstrap, "--only", CHECKS, "--against", bootstrap)
    assert ended.returncode == 1
    assert "differs" not in ended.stdout


@pytest.mark.parametrize(
    ("against", "code", "reason"),
    [
        ("apache:0.1", 3, "--against apache:0.1: the broker did not start"),
        ("example.com:9092", 2, "example.com is not this machine"),
        ("127.0.0.1:1", 3, "can't check the broker: 127.0.0.1:1: Connection refused"),
    ],
)
def test_another_broker_that_cannot_be_used_is_told_in_a_line(
    bootstrap: str, against: str, code: int, reason: str
) -> None:
    ended = run("conform", bootstrap, "--only", "frame/unknown-api-key", "--against", against)
    assert ended.returncode == code
    assert ended.stderr.splitlines()[-1].startswith(f"barnabas: {reason}")


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(900)
def test_apache_kafka_meets_all_requirements_also_through_the_proxy(tmp_path: Path) -> None:
    with ApacheCluster("4.3.1") as cluster:
        direct = run("conform", cluster.bootstrap, "--json", "direct.json", cwd=tmp_path)
        with started("proxy", "-b", cluster.bootstrap, "--listen", "127.0.0.1:0") as (_, ready):
            words = ("--json", "proxied.json", "--against", "librdkafka", "--jobs", "4")
            proxied = run("conform", ready["listen"], *words, cwd=tmp_path)
    assert (direct.returncode, proxied.returncode) == (0, 0), direct.stdout + proxied.stdout
    outcomes = [
        {row["name"]: row["outcome"] for row in json.loads((tmp_path / name).read_text())["checks"]}
        for name in ("direct.json", "proxied.json")
    ]
    assert outcomes[0] == outcomes[1]
    assert len([name for name, outcome in outcomes[0].items() if outcome == "pass"]) > 600
    assert "differs metadata/" in proxied.stdout


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"\xff", "not a YAML file"),
        (b"[" * 5000, "not a YAML file"),
        (b"- 2001-99-99", "not a YAML file"),
        (b"x" * (2 << 20), "longer than 1 MiB"),
        (b"- [a]", "no check"),
        (b"3", "expected names of checks"),
    ],
    ids=range(6),
)
def test_a_wrong_baseline_is_an_error_in_a_line(tmp_path: Path, text: bytes, reason: str) -> None:
    (tmp_path / "known.yaml").write_bytes(text)
    ended = run("conform", "127.0.0.1:1", "--baseline", "known.yaml", cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"barnabas: --baseline known.yaml: {reason}")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        (("--json", "a", "--junit", "a"), 2, "--json a would overwrite the file of --junit"),
        (("--html", "."), 3, "can't write ."),
        (("fetch/beyond-end",), 2, "to choose checks, give --only fetch/beyond-end"),
        (("--only", ","), 2, "--only: no area, name or glob"),
        (("--kip", "many"), 2, "--kip many: expected a number"),
        (("--against", "nobody"), 2, "--against nobody: neither HOST:PORT nor a kind"),
    ],
)
def test_wrong_options_are_told_before_a_check_runs(
    bootstrap: str, tmp_path: Path, options: tuple[str, ...], code: int, reason: str
) -> None:
    ended = run("conform", bootstrap, *options, cwd=tmp_path)
    assert ended.returncode == code
    assert reason in ended.stderr
    assert ended.stdout == ""


def test_a_run_without_a_check_that_fits_could_not_run(bootstrap: str) -> None:
    ended = run("conform", bootstrap, "--only", "topics/create-id")
    assert ended.returncode == 3
    assert "no check was carried out" in ended.stderr
    assert "1 skipped" in ended.stdout
