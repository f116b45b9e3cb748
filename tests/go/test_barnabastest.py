"""The fixture for Go tests: its own tests, its README's example in another project, and a copied test."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.page import as_client_test
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import go
from tests.copied_tests import copied_test
from tests.fixture_readmes import GO, example, getting
from tests.places import ROOT

pytestmark = [
    pytest.mark.slow("builds Go modules, which downloads kafka-go once"),
    pytest.mark.timeout(600),
    pytest.mark.needs_go("kfake"),
]

ENVIRONMENT = {
    **os.environ,
    "BARNABAS": f"{sys.executable} -m barnabas",
    "PYTHONPATH": str(ROOT),
}

CLIENT = """
func sendOrders(bootstrap string) {
	writer := &kafka.Writer{Addr: kafka.TCP(bootstrap), Topic: "orders", AllowAutoTopicCreation: true}
	writer.RequiredAcks = kafka.RequireAll
	defer writer.Close()
	if err := writer.WriteMessages(context.Background(), kafka.Message{Value: []byte("tea")}); err != nil {
		panic(err)
	}
}

"""

PROJECT = f"""package orders

import (
	"context"
	"testing"
	"time"

	"barnabas.example/barnabas.git/go/barnabastest"
	"github.com/segmentio/kafka-go"
)
{CLIENT}"""


@pytest.fixture
def program() -> str:
    try:
        return str(go())
    except UnavailableClientError as problem:
        pytest.skip(str(problem))


def run(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**ENVIRONMENT, **more}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_its_tests_pass(program: str) -> None:
    done = run(ROOT / GO, program, "test", "-count=1", "./...")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_copied_test(program: str, tmp_path: Path) -> None:
    module = shutil.copytree(ROOT / GO, tmp_path / "module")
    package = module / "again"
    package.mkdir()
    test = copied_test(as_client_test.GO, "sendOrders(proxy.BootstrapServer)")
    (package / as_client_test.GO.file).write_text(test)
    imports = 'import (\n"context"\n\n"github.com/segmentio/kafka-go"\n)\n'
    (package / "client_test.go").write_text(f"package again_test\n{imports}{CLIENT}")
    done = run(module, program, "test", "-v", "./again")
    assert "--- PASS: TestProduceNotEnoughReplicas" in done.stdout, done.stdout + done.stderr


def test_the_example_in_a_project_of_its_own(program: str, tmp_path: Path) -> None:
    repository, project = tmp_path / "repository", tmp_path / "project"
    shutil.copytree(ROOT / GO, repository / GO)
    project.mkdir()
    command = getting(GO, "sh")
    version = command.rpartition("@")[2]
    named = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init",), ("add", "."), ("commit", "-m", "x"), ("tag", f"{GO}/{version}")):
        assert run(repository, "git", *named, *words).returncode == 0
    text = example(GO)
    failing = text.replace("AtLeast: 1, AtMost: 3", "AtMost: 0").replace(
        "SentAgain", "NotSentAgain"
    )
    (project / "orders_test.go").write_text(PROJECT + text + failing)
    settings = {
        "GOPRIVATE": "barnabas.example",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{repository.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://barnabas.example/barnabas",
        "BARNABAS_REPORTS": str(tmp_path / "reports"),
    }
    requirement = "github.com/segmentio/kafka-go@v0.4.51"
    for line in (("mod", "init", "orders"), command.split()[1:], ("get", requirement)):
        done = run(project, program, *line, **settings)
        assert done.returncode == 0, done.stdout + done.stderr
    done = run(project, program, "test", "-v", **settings)
    outcomes = re.findall(r"^--- (\w+): (\w+)", done.stdout, re.MULTILINE)
    assert outcomes == [
        ("PASS", "TestOrdersAreSentAgain"),
        ("FAIL", "TestOrdersAreNotSentAgain"),
    ], done
    assert "1 retried request, where 0 at most should be" in done.stdout
    capture = re.search(r"capture: (.+)", done.stdout)
    assert capture is not None
    assert [Path(capture[1])] == [*(tmp_path / "reports").iterdir()]
