"""What a user names, and what is told when it can't be had."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from barnabas.fuzz.states.clients.alphabets import CLIENT_ALPHABETS
from barnabas.fuzz.targets.clients.workloads import EVERYBODYS, WORKLOADS
from barnabas.peers.clients import python
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.errors import UnavailableClientError, UnknownClientError
from barnabas.peers.clients.golang import SOURCES
from barnabas.peers.clients.registry import INSTALLED, LIBRARIES, find, installed_by

PROGRAMS = Path(python.__file__).parent / "programs"


@pytest.mark.parametrize("name", [name for name, _, _ in LIBRARIES])
def test_a_client_is_named_with_its_version(name: str) -> None:
    assert find(f"{name}@1.2.3").name == f"{name} 1.2.3"


@pytest.mark.parametrize(
    "text", ["kafka-python", "kafka-python@", "kafka-python@../1", "no-such@1", ""]
)
def test_another_name_is_told_what_there_is(text: str) -> None:
    with pytest.raises(UnknownClientError, match=r"kafka-python@VERSION, "):
        find(text)


def test_a_slip_is_told_what_was_meant() -> None:
    with pytest.raises(UnknownClientError, match="did you mean 'sarama'"):
        find("sarema@1.46.2")


def test_without_go_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UnavailableClientError, match=r"go\.dev"):
        find("sarama@1.46.2").prepare()


@pytest.mark.parametrize("name", ["kafkajs@2.2.4", "platformatic-kafka@2.12.1"])
def test_without_node_it_is_said_what_to_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UnavailableClientError, match=r"the node command .*nodejs\.org"):
        find(name).prepare()


def test_without_cargo_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UnavailableClientError, match=r"the cargo command .*rustup\.rs"):
        find("rdkafka@0.39.0").prepare()


def test_what_fails_is_told_in_a_line() -> None:
    with pytest.raises(UnavailableClientError, match=r"^no luck: one \| two$"):
        run("no luck", ["sh", "-c", "echo one >&2; echo two >&2; exit 3"])
    with pytest.raises(UnavailableClientError, match=r"^no luck: ."):
        run("no luck", ["/no/such/program"])


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
