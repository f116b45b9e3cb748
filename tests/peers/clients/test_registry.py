"""What a user names, and what is told when it can't be had."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from barnabas.fuzz.states.clients.alphabets import CLIENT_ALPHABETS
from barnabas.fuzz.targets.clients.workloads import EVERYBODYS, WORKLOADS
from barnabas.peers.clients import golang, node, python, rust
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import SOURCES
from barnabas.peers.clients.java import java_program
from barnabas.peers.clients.registry import LIBRARIES, find, installed_by

PROGRAMS = Path(python.__file__).parent / "programs"


@pytest.mark.parametrize(("name", "said"), [
    ("sarama@1.46.2", r"go\.dev"),
    ("kafkajs@2.2.4", r"the node command .*nodejs\.org"),
    ("platformatic-kafka@2.12.1", r"the node command .*nodejs\.org"),
    ("rdkafka@0.39.0", r"the cargo command .*rustup\.rs"),
])  # fmt: skip
def test_what_builds_or_runs_it_is_named(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
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
    assert program.parent.name.replace("_", "-") in {one.name for one in LIBRARIES}


@pytest.mark.parametrize(
    "program", sorted(node.SOURCES.glob("*/sessions.cjs")), ids=lambda p: p.parent.name
)
def test_every_program_in_javascript_has_every_session(program: Path) -> None:
    table = program.read_text().partition("sessions: {")[2].partition("}")[0]
    names = {entry.partition(":")[0].strip(" '\n") for entry in table.split(",")}
    assert set(EVERYBODYS) <= names <= set(WORKLOADS)
    assert program.parent.name.replace("_", "-") in {one.name for one in LIBRARIES}


def test_the_program_in_rust_has_every_session() -> None:
    names = set(re.findall(r'^ +"([\w-]+)" => ', (rust.SOURCES / "sessions.rs").read_text(), re.M))
    assert set(EVERYBODYS) <= names <= set(WORKLOADS)


def test_how_each_library_is_had_is_known() -> None:
    assert all(installed_by(f"{one.name}@1.2").endswith("1.2") for one in LIBRARIES)


def test_a_release_of_streams_that_is_too_old_is_told() -> None:
    pytest.importorskip("jpype")
    with pytest.raises(UnavailableClientError, match=r"kafka-streams 1\.0\.0 is too old.*3\.3 on"):
        java_program("kafka-streams", "kafka_streams", "1.0.0")


def test_nothing_of_an_earlier_build_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: "go")
    built: list[set[str]] = []

    def run(what: str, line: list[str], *, within: Path, environment: dict[str, str]) -> None:
        built.append({source.name for source in within.glob("*.go")})

    monkeypatch.setattr(golang, "run", run)
    place = tmp_path / "barnabas" / "clients" / "sarama-1.46.2-go"
    place.mkdir(parents=True)
    (place / "renamed.go").touch()
    golang.go_program("sarama", "github.com/IBM/sarama", "1.46.2")
    ours = [*golang.SOURCES.glob("*.go"), *(golang.SOURCES / "sarama").glob("*.go")]
    assert built == [{source.name for source in ours}] * 2
