"""What a user names, and what is told when it can't be had."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from barnabas.fuzz.states.clients.alphabets import CLIENT_ALPHABETS
from barnabas.fuzz.targets.clients.workloads import EVERYBODYS, WORKLOADS
from barnabas.peers.clients import python
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import SOURCES
from barnabas.peers.clients.registry import INSTALLED, LIBRARIES, find, installed_by

PROGRAMS = Path(python.__file__).parent / "programs"


@pytest.mark.parametrize(("name", "said"), [
    ("sarama@1.46.2", r"go\.dev"),
    ("kafkajs@2.2.4", r"the node command .*nodejs\.org"),
    ("platformatic-kafka@2.12.1", r"the node command .*nodejs\.org"),
    ("rdkafka@0.39.0", r"the cargo command .*rustup\.rs"),
])  # fmt: skip
def test_what_builds_or_runs_it_is_named(
    name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UnavailableClientError, match=said):
        find(name).prepare()


@pytest.mark.parametrize("program", sorted(PROGRAMS.glob("*_sessions.py")), ids=lambda p: p.stem)
def test_every_program_in_python_has_every_session(program: Path) -> None:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(program.read_text()).body
    found = {node.name for node in tree if isinstance(node, functions) and node.name[0] != "_"}
    assert set(EVERYBODYS) <= found
    known = {*WORKLOADS, *(one.workload for one in CLIENT_ALPHABETS)}
    assert found <= {name.replace("-", "_") for name in known}


@pytest.mark.parametrize(
    "program", sorted(SOURCES.glob("*/sessions.go")), ids=lambda p: p.parent.name
)
def test_every_program_in_go_has_every_session(program: Path) -> None:
    text = program.read_text()
    found = set(re.findall(r'^\t"([\w-]+)": ', text, re.MULTILINE))
    assert set(EVERYBODYS) <= found <= set(WORKLOADS)
    assert program.parent.name.replace("_", "-") in {name for name, _, _ in LIBRARIES}


def test_how_each_library_is_had_is_known() -> None:
    assert INSTALLED.keys() == {name for name, _, _ in LIBRARIES}
    assert all(installed_by(f"{name}@1.2").endswith("1.2") for name in INSTALLED)
