"""Which program the fake cluster runs: that of the wheel, or one that is built of fixed modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.peers import kfake
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.kfake import FOLDER, FRANZ_GO, REVISION, WITH, KfakeCluster, at_hand
from tests.peers.kfake_absent import with_go


def test_the_modules_are_those_of_the_revision() -> None:
    text = (FOLDER / "go.mod").read_text()
    assert f"{FRANZ_GO}/pkg/kfake {REVISION}\n" in text
    assert f"{FRANZ_GO} {WITH} " in text


def test_the_program_of_the_wheel_needs_no_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = tmp_path / "kfake"
    packaged.write_text('#!/bin/sh\necho "127.0.0.1:1,$*"\ncat\n')
    packaged.chmod(0o755)
    monkeypatch.setattr(kfake, "PACKAGED", packaged)
    for name, value in with_go("go1.20", tmp_path).items():
        monkeypatch.setenv(name, value)
    assert at_hand()
    with KfakeCluster(2) as cluster:
        assert cluster.bootstrap == "127.0.0.1:1,-brokers 2 -port 0 -min-session-timeout 6000ms"


def test_a_commit_that_go_does_not_find_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in with_go("go1.26", tmp_path).items():
        monkeypatch.setenv(name, value)
    text = f"go: {FRANZ_GO}/pkg/kfake@abcdef1: invalid version: unknown revision abcdef1"
    (tmp_path / "go").write_text(f"#!/bin/sh\necho {text} >&2\nexit 1\n")
    line = "^kfake abcdef1: Go finds no revision abcdef1 of franz-go; omit it to start kfake "
    with pytest.raises(UnavailableClientError, match=line), KfakeCluster(1, "abcdef1"):
        pass
