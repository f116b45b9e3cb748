"""`barnabas fuzz` on a listener with SASL, from the command line to a finding that is run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from barnabas.cli.app import app
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, Trouble
from tests.barnabas.cli.fuzz.test_bisect import campaign

ON_SASL = ("--listener", "sasl_plaintext", "--mechanism", "SCRAM-SHA-256")


def fuzz(*words: str) -> Result:
    return CliRunner().invoke(app, ["fuzz", *words])


@pytest.mark.needs_apache("3.9.1")
@pytest.mark.timeout(300)
def test_a_finding_before_a_login_is_run_again_on_the_same_listener(tmp_path: Path) -> None:
    """Kafka logs an IllegalStateException where a client asks for versions twice before it logs in."""
    path = campaign(
        tmp_path,
        target="apache:3.9.1",
        apis=["ApiVersions"],
        sessions=["greeting"],
        corpora=["sessions"],
        mutators=["repetition"],
        oracles=["logged"],
        budget={"cases": 12},
    )
    database = ("--db", str(tmp_path / "it.fuzz.db"))
    ran = fuzz("run", str(path), *database, *ON_SASL, "--json")
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    name = next(one["name"] for one in found if one["event"] == "finding")
    again = fuzz("replay", name, *database, "--json")
    assert again.exit_code == FINDINGS
    assert json.loads(again.stdout)["target"] == (
        "kafka 3.9.1 listener=sasl_plaintext&mechanism=SCRAM-SHA-256"
    )


@pytest.mark.slow("a broker and a script, each a process that waits")
def test_a_script_logs_in_where_its_target_does(tmp_path: Path) -> None:
    apis = {"apis": ["Metadata"], "sessions": ["none"]}
    path = campaign(tmp_path, target="embedded", oracles=["responses"], **apis)
    database = ("--db", str(tmp_path / "it.fuzz.db"))
    ran = fuzz("run", str(path), *database, "--json", "--shrink", "0")
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    name = next(one["name"] for one in found if one["event"] == "finding")
    for target, user in (
        ("apache:4.3.1?listener=sasl_plaintext", "barnabas"),
        ("address:127.0.0.1:9092?username=alice&password_file=mine", "alice"),
    ):
        done = fuzz("script", name, *database, "--target", target)
        assert f"Logs in by PLAIN as {user}: SASL_PASSWORD has the password." in done.stdout
        assert "    log_in(sock)\n" in done.stdout
    assert "log_in" not in fuzz("script", name, *database).stdout


@pytest.mark.needs_apache("3.9.1")
def test_a_setting_that_the_broker_refuses_ends_the_command_in_a_line(tmp_path: Path) -> None:
    path = campaign(tmp_path, target="apache:3.9.1")
    database = ("--db", str(tmp_path / "it.fuzz.db"))
    ran = fuzz("run", str(path), *database, "--broker-setting", "num.io.threads=many")
    assert isinstance(ran.exception, Trouble)
    assert ran.exception.code == COULD_NOT_RUN
    assert "Invalid value many for configuration num.io.threads" in str(ran.exception)
    assert "\n" not in str(ran.exception)
