"""The fixture for node's test runner: its own tests, its README's example elsewhere, and a copied test."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.page.as_client_test import NODE
from tests.copied_tests import copied_test
from tests.fixture_readmes import JS, example
from tests.places import ROOT

NPM = shutil.which("npm")

pytestmark = [
    pytest.mark.slow("installs kafkajs"),
    pytest.mark.timeout(600),
    pytest.mark.needs_go("kfake"),
    pytest.mark.skipif(NPM is None, reason="no node on the path"),
]

ENVIRONMENT = {
    **os.environ,
    "BARNABAS": f"{sys.executable} -m barnabas",
    "PYTHONPATH": str(ROOT),
}

QUIET = ("--no-audit", "--no-fund")

CLIENT = """import kafkajs from 'kafkajs'

async function sendOrders(bootstrap) {
  const client = new kafkajs.Kafka({ brokers: [bootstrap], logLevel: kafkajs.logLevel.NOTHING })
  const producer = client.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner })
  await producer.connect()
  await producer.send({ topic: 'orders', messages: [{ value: 'tea' }] })
  await producer.disconnect()
}

"""

PROJECT = f"""import {{ test }} from 'node:test'
import {{ start }} from 'barnabas-test'
{CLIENT}"""


def npm(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(NPM), *words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_tests_pass(tmp_path: Path) -> None:
    module = shutil.copytree(
        ROOT / JS, tmp_path / "js", ignore=shutil.ignore_patterns("node_modules")
    )
    for words in (("install", *QUIET), ("test",)):
        done = npm(module, *words)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_copied_test(tmp_path: Path) -> None:
    module = tmp_path / "js"
    shutil.copytree(ROOT / JS, module, ignore=shutil.ignore_patterns("node_modules", "test"))
    test = copied_test(NODE, "await sendOrders(proxy.bootstrapServer)")
    (module / NODE.file).write_text(CLIENT + test)
    assert npm(module, "install", *QUIET).returncode == 0
    done = npm(module, "test")
    assert re.search(r"pass 1\n.* fail 0\n", done.stdout), done.stdout + done.stderr


def test_the_example_in_a_project_of_its_own(tmp_path: Path) -> None:
    packed = npm(ROOT / JS, "pack", "--json", "--pack-destination", str(tmp_path))
    (package,) = json.loads(packed.stdout)
    names = {each["path"] for each in package["files"]}
    assert names == {"README.md", "index.d.ts", "index.js", "package.json", "server.js"}
    project = tmp_path / "project"
    project.mkdir()
    text = PROJECT + example(JS)
    failing = text.replace("atLeast: 1, atMost: 3", "atMost: 0")
    (project / "orders.test.mjs").write_text(text)
    (project / "failing.test.mjs").write_text(failing)
    manifest = {"type": "module", "scripts": {"test": "node --test"}}
    (project / "package.json").write_text(json.dumps(manifest))
    done = npm(project, "install", *QUIET, str(tmp_path / package["filename"]), "kafkajs@2.2.4")
    assert done.returncode == 0, done.stdout + done.stderr
    done = npm(project, "test")
    assert re.search(r"pass 1\n.* fail 1\n", done.stdout), done.stdout + done.stderr
    assert "1 retried request, where 0 at most should be" in done.stdout
    capture = re.search(r"capture: (.+)", done.stdout)
    assert capture is not None
    assert [Path(capture[1])] == [*(project / "barnabas-captures").iterdir()]
