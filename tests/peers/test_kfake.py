"""Which program the fake cluster runs: that of the wheel, or one that is built of fixed modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.peers import kfake
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
