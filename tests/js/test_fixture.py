"""The fixture for node's test runner, by its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

NPM = shutil.which("npm")


@pytest.mark.slow("installs kafkajs")
@pytest.mark.timeout(600)
@pytest.mark.needs_go("kfake")
def test_its_tests_pass(tmp_path: Path) -> None:
    if NPM is None:
        pytest.skip("no node on the path")
    module = shutil.copytree(
        ROOT / "js", tmp_path / "js", ignore=shutil.ignore_patterns("node_modules")
    )
    environment = {
        **os.environ,
        "BARNABAS": f"{sys.executable} -m barnabas",
        "PYTHONPATH": str(ROOT),
    }
    for words in (("install", "--no-audit", "--no-fund"), ("test",)):
        done = subprocess.run(
            [NPM, *words],
            cwd=module,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
