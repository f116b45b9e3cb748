"""What a user names, and what is told when it can't be had."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.oracles.documented import DOCUMENTED
from barnabas.fuzz.targets.clients import golang
from barnabas.fuzz.targets.clients.cache import run
from barnabas.fuzz.targets.clients.registry import CLIENTS, find
from barnabas.fuzz.targets.clients.workloads import WORKLOADS

PROGRAMS = Path(golang.__file__).parent


@pytest.mark.parametrize("name", [name for name, _, _ in CLIENTS])
def test_a_client_is_named_with_its_version(name: str) -> None:
    assert find(f"{name}@1.2.3").name.endswith(" 1.2.3")


@pytest.mark.parametrize("text", ["kafka-python", "kafka-python@", "no-such@1", ""])
def test_another_name_is_told_what_there_is(text: str) -> None:
    with pytest.raises(Misuse, match=r"kafka-python@VERSION, .*command:LINE"):
        find(text)


def test_a_command_says_where_the_broker_goes() -> None:
    assert list(find("command:kcat -b {bootstrap} -L").prepare().line) == [
        "kcat",
        "-b",
        "{bootstrap}",
        "-L",
    ]
    with pytest.raises(Misuse, match="bootstrap"):
        find("command:kcat -L")


def test_without_go_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(CannotRun, match=r"go\.dev"):
        find("sarama@1.46.2").prepare()


def test_what_fails_is_told_in_a_line() -> None:
    with pytest.raises(CannotRun, match=r"^no luck: one \| two$"):
        run("no luck", ["sh", "-c", "echo one >&2; echo two >&2; exit 3"])
    with pytest.raises(CannotRun, match=r"^no luck: ."):
        run("no luck", ["/no/such/program"])


@pytest.mark.parametrize(
    "program", sorted(PROGRAMS.glob("programs/with_*.py")), ids=lambda p: p.stem
)
def test_every_program_in_python_has_every_workload(program: Path) -> None:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(program.read_text()).body
    found = {node.name for node in tree if isinstance(node, functions) and node.name[0] != "_"}
    assert found == set(WORKLOADS)


IN_GO = {folder.name.replace("_", "-") for folder in PROGRAMS.glob("go/*") if folder.is_dir()}


@pytest.mark.parametrize("name", [name for name, _, _ in CLIENTS if name not in IN_GO])
def test_a_client_that_raises_says_what_it_documents(name: str) -> None:
    dialect = find(f"{name}@1.2.3").dialect
    assert dialect in {client for client, _, _ in DOCUMENTED}, (
        "add a line to DOCUMENTED: else every error of this client is a finding"
    )


@pytest.mark.parametrize(
    "program", sorted(PROGRAMS.glob("go/*/sessions.go")), ids=lambda p: p.parent.name
)
def test_every_program_in_go_has_every_workload(program: Path) -> None:
    text = program.read_text()
    assert all(f'"{name}":' in text for name in WORKLOADS)
    assert program.parent.name.replace("_", "-") in {name for name, _, _ in CLIENTS}
