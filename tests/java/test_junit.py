"""The extension for JUnit, by its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.places import ROOT


@pytest.mark.slow("builds a Maven project, which downloads JUnit, Jackson and Kafka's client once")
@pytest.mark.timeout(600)
@pytest.mark.needs_go("kfake")
def test_its_tests_pass() -> None:
    program = shutil.which("mvn")
    if program is None:
        pytest.skip("needs mvn (Debian: apt-get install maven)")
    done = subprocess.run(
        [program, "-q", "-B", "test"],
        cwd=ROOT / "java",
        env={**os.environ, "BARNABAS": f"{sys.executable} -m barnabas", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
