"""What messages advise exists: settings are Kafka's or a scenario's, options and commands the command line's.

Sentences are read from the code: every text that is no docstring, f-strings without their values.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import typer.main

from barnabas.cli.app import app
from barnabas.proxy.faults import FAULTS
from barnabas.proxy.scenario.json_schema import scenario_schema
from tests.places import ROOT

PLACES: Final = (
    "barnabas",
    "captures",
    "experiments",
    "fuzz",
    "page",
    "peers",
    "pipeline",
    "proxy",
)

KAFKA: Final = frozenset(
    line
    for line in Path(__file__).with_name("kafka_settings.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)

FIRST: Final = frozenset(name.split(".")[0] for name in KAFKA)
LAST: Final = frozenset(name.rpartition(".")[2] for name in KAFKA)
"""A dotted word that begins and ends as settings do is meant to be one."""

OTHERS: Final = frozenset(("partition.assignment.strategies", "max.session.timeout"))
"""Settings of protocols that packages add."""

EARLIER: Final = frozenset(("fetch.message.max.bytes",))
"""Settings of the consumer of 0.8."""

OTHER_OPTIONS: Final = frozenset(
    (
        "--help",
        "--topic",
        "--line",
        "--kafka-bootstrap-server",
        "--barnabas-conform",
        "--deep-iteration",
    )
)
"""Of every command; of the program that an example explores; a style sheet's variable; pytest's; of
kafka-dump-log."""

ENGLISH: Final = frozenset(
    re.findall(r"\w+", "a longer other one of both and or too not alone without name code another")
)
"""Words of advice on scenarios that are no names."""

EXTRAS: Final = frozenset(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
)

COMMANDS: Final[Any] = typer.main.get_command(app)


def options(command: Any) -> Iterator[str]:
    """Of a command and all below it."""
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    for name in command.list_commands(None) if hasattr(command, "commands") else ():
        yield from options(command.get_command(None, name))


OPTIONS: Final = OTHER_OPTIONS.union(options(COMMANDS))


def settings(schema: Any) -> Iterator[str]:
    """Names of all settings of scenario files."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for inner in schema.values():
            yield from settings(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from settings(inner)


SCENARIO: Final = frozenset(settings(scenario_schema())) | {name for name, *_ in FAULTS}


def sentences(path: Path) -> Iterator[str]:
    """The texts of a file; {} is what is filled in."""
    tree = ast.parse(path.read_text("utf-8"))
    passed: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant() as docstring):
                passed.add(id(docstring))
            case ast.JoinedStr(parts):
                passed.update(map(id, parts))
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts
                )
            case ast.Constant(str(text)) if id(node) not in passed:
                yield text


def wrong(text: str, *, of_scenarios: bool = False) -> Iterator[str]:
    """What a message names that does not exist."""
    for word in re.findall(r"(?<![\w./{}$'-])[a-z]+(?:\.[a-z]+)+(?![\w({/-])", text):
        meant = word.split(".")[0] in FIRST and word.rpartition(".")[2] in LAST
        if meant and word not in KAFKA | OTHERS | EARLIER:
            yield word
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]\b", text):
        if option not in OPTIONS and option != text:
            yield option
    for extras in re.findall(r"\bextras? '([\w,]+)'", text):
        yield from set(extras.split(",")) - EXTRAS
    for line in re.findall(r"\bbarnabas (?!has |was |is |did |with )((?:[a-z]+ ?)+)", text):
        command = COMMANDS
        for word in line.split():
            if not hasattr(command, "commands"):
                break
            if word not in command.list_commands(None):
                yield f"barnabas {line}"
                break
            command = command.get_command(None, word)
    if of_scenarios:
        for advice in re.findall(r"\b(?:give|use) ([^;:()`{]+)", text):
            for word in re.findall(r"(?<![\w-])[a-z_]+", advice):
                if word not in SCENARIO | ENGLISH:
                    yield word


FILES: Final = tuple(
    str(path.relative_to(ROOT))
    for place in PLACES
    for path in sorted((ROOT / place).rglob("*.py"))
    if "clients/programs" not in str(path)
)


@pytest.mark.parametrize("place", PLACES)
def test_what_messages_name_exists(place: str) -> None:
    found = [
        (file, name)
        for file in FILES
        if file.startswith(place)
        for text in sentences(ROOT / file)
        if " " in text
        for name in wrong(text, of_scenarios=file.startswith(("proxy/faults/", "proxy/scenario/")))
    ]
    assert found == []
