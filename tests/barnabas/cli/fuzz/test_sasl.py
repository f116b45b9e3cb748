"""`barnabas fuzz` on a listener with SASL, from the command line to a finding that is run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.trouble import FINDINGS
from tests.barnabas.cli.command import run
from tests.barnabas.cli.fuzz.test_bisect import campaign

ON_SASL = ("--listener", "sasl_plaintext", "--mechanism", "SCRAM-SHA-256")


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
    ran = run("fuzz", "run", str(path), *database, *ON_SASL, "--json")
    name = next(one["name"] for one in ran.rows if one["event"] == "finding")
    again = run("fuzz", "replay", name, *database, "--json")
    assert again.returncode == FINDINGS
    assert again.document["target"] == (
        "kafka 3.9.1 listener=sasl_plaintext&mechanism=SCRAM-SHA-256"
    )


@pytest.mark.slow("a broker and a script, each a process that waits")
def test_a_script_logs_in_where_its_target_does(tmp_path: Path) -> None:
    apis = {"apis": ["Metadata"], "sessions": ["none"]}
    path = campaign(tmp_path, target="librdkafka", oracles=["responses"], **apis)
    database = ("--db", str(tmp_path / "it.fuzz.db"))
    ran = run("fuzz", "run", str(path), *database, "--json", "--shrink", "0")
    name = next(one["name"] for one in ran.rows if one["event"] == "finding")
    for target, user in (
        ("apache:4.3.1?listener=sasl_plaintext", "barnabas"),
        ("address:127.0.0.1:9092?username=alice&password_file=mine", "alice"),
    ):
        done = run("fuzz", "script", name, *database, "--target", target)
        assert f"Logs in by PLAIN as {user}: SASL_PASSWORD has the password." in done.stdout
        assert "    log_in(sock)\n" in done.stdout
    assert "log_in" not in run("fuzz", "script", name, *database).stdout
