"""Messages that give advice name options, commands, extras and settings that exist."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import typer

import barnabas
from barnabas.cli.app import app
from barnabas.proxy.faults import FAULTS
from barnabas.proxy.scenario.file import scenario_schema

ROOT: Final = Path(barnabas.__file__).parent
FILES: Final = sorted(
    path
    for folder in ("proxy", "cli/console", "cli/proxy", "cli/ctl", "cli/scenarios", "cli/demo")
    for path in (ROOT / folder).rglob("*.py")
)

ENGLISH: Final = frozenset(
    re.findall(
        r"\w+", "a longer other one of both and or too not alone without a name or code another"
    )
)
"""Words of advice that are no names."""


def texts(path: Path) -> Iterator[str]:
    """What a file may print: its strings but for docstrings; {} is what is filled in."""
    tree = ast.parse(path.read_text("utf-8"))
    inner = {
        id(part)
        for node in ast.walk(tree)
        for part in (
            node.values
            if isinstance(node, ast.JoinedStr)
            else [node.value]
            if isinstance(node, ast.Expr)
            else ()
        )
    }
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(parts):
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts
                )
            case ast.Constant(str(text)) if id(node) not in inner:
                yield text


def options(command: Any) -> Iterator[str]:
    """Of a command and all below it."""
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    for inner in getattr(command, "commands", {}).values():
        yield from options(inner)


COMMANDS: Final[Any] = typer.main.get_command(app)
OPTIONS: Final = frozenset(options(COMMANDS))
EXTRAS: Final = frozenset(
    tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
)


def settings(schema: Any) -> Iterator[str]:
    """Names of all settings of scenario files."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for inner in schema.values():
            yield from settings(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from settings(inner)


NAMES: Final = frozenset(settings(scenario_schema())) | {name for name, *_ in FAULTS}


def wrong(text: str, *, of_scenarios: bool) -> Iterator[str]:
    """What a message names that does not exist."""
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]\b", text):
        if option not in (*OPTIONS, text):
            yield option
    for extra in re.findall(r"barnabas\[(\w+)\]", text):
        if extra not in EXTRAS:
            yield extra
    for line in re.findall(r"`?\bbarnabas ((?:[a-z]+ ?)+)", text):
        command = COMMANDS
        for word in line.split():
            if not hasattr(command, "commands"):
                break
            if word not in command.commands:
                yield f"barnabas {line}"
                break
            command = command.commands[word]
    if of_scenarios:
        for advice in re.findall(r"\b(?:give|use) ([^;:()`{]+)", text):
            for word in re.findall(r"(?<![\w-])[a-z_]+", advice):
                if word not in NAMES | ENGLISH:
                    yield word


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_messages_name_exists(path: Path) -> None:
    of_scenarios = path.is_relative_to(ROOT / "proxy" / "faults") or path.is_relative_to(
        ROOT / "proxy" / "scenario"
    )
    found = [
        (text, name) for text in texts(path) for name in wrong(text, of_scenarios=of_scenarios)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("give --no-such-option", "--no-such-option"),
        ("pip install 'barnabas[nothing]'", "nothing"),
        ("fires only by `barnabas ctl rule shoot`", "barnabas ctl rule shoot"),
        ("time is longer than at_most: give a longer at_least_so_long", "at_least_so_long"),
    ],
)
def test_advice_that_names_what_does_not_exist_is_found(text: str, name: str) -> None:
    assert list(wrong(text, of_scenarios=True)) == [name]
