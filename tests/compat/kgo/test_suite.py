"""The suite is told where the brokers are and how long it may take; with a program in the place of Go."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from barnabas.peers.clients.errors import UnavailableClientError
from tests.compat.kgo import suite
from tests.compat.kgo.outcomes import GoTest, Outcome

GO = f"""\
#!{sys.executable}
import json, os, sys
if sys.argv[1:3] == ["mod", "download"]:
    missing = "MISSING" in os.environ
    print(json.dumps({{"Error": "no such\\nmodule"}} if missing else {{"Dir": os.environ["DIR"]}}))
    sys.exit(missing)
elif "-json" in sys.argv:
    told = [os.environ[name] for name in ("KGO_SEEDS", "KGO_TEST_RF", "KGO_TEST_RECORDS", "GOFLAGS")]
    said = json.dumps([sys.argv[1:], told, os.listdir()])
    for event in ({{"Action": "output", "Output": said}}, {{"Action": "pass"}}):
        print(json.dumps({{"Package": "kgo", "Test": "TestA", **event}}))
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module as Go keeps it, read-only, and a Go that knows it."""
    program = tmp_path / "go"
    program.write_text(GO)
    program.chmod(0o700)
    monkeypatch.setattr(suite, "go", lambda: str(program))
    cached = tmp_path / "cached"
    cached.mkdir()
    (cached / "go.mod").write_text("module kgo\n")
    (cached / "go.mod").chmod(0o400)
    cached.chmod(0o500)
    monkeypatch.setenv("DIR", str(cached))
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    return cached


def test_the_suite_runs_in_a_copy_and_is_told_where_the_brokers_are(
    module: Path, tmp_path: Path
) -> None:
    events = tmp_path / "events.jsonl"
    with suite.module() as folder:
        assert folder != module
        ended = suite.execute(
            folder, "a:1,b:2", events, only="TestA", replicas=3, records=30_000, minutes=7
        )
    assert not folder.exists()
    test = GoTest("kgo", "TestA")
    assert ended.run.outcomes == {test: Outcome.PASSED}
    line, told, files = json.loads(ended.run.reason(test))
    assert line == [
        *suite.TEST,
        "-json",
        "-count=1",
        "-timeout=7m",
        "-run",
        "TestA",
        suite.PACKAGES,
    ]
    assert told == ["a:1,b:2", "3", "30000", ""]
    assert files == ["go.mod"]
    assert "TestA" in events.read_text()


def test_a_module_that_cannot_be_had_is_said_in_one_line(
    module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISSING", "1")
    with (
        pytest.raises(UnavailableClientError, match="can't be downloaded: no such module"),
        suite.module("v0.0.0"),
    ):
        pass
