"""The fixture for Go tests, by its own tests."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import go
from tests.places import ROOT


@pytest.mark.slow("builds a Go module, which downloads kafka-go once")
@pytest.mark.timeout(600)
@pytest.mark.needs_go("kfake")
def test_its_tests_pass() -> None:
    try:
        program = go()
    except UnavailableClientError as problem:
        pytest.skip(str(problem))
    done = subprocess.run(
        [program, "test", "-count=1", "./..."],
        cwd=ROOT / "go" / "barnabastest",
        env={**os.environ, "BARNABAS": f"{sys.executable} -m barnabas", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
