"""What messages advise exists: settings are Kafka's, options and commands those of the command line.

Sentences are read from the code: every text with a space that is no docstring, f-strings without values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer.main

from barnabas.captures.checks import CHECKS
from barnabas.cli.app import app
from tests.places import ROOT

PLACES: Final = ("captures", "pipeline", "fuzz", "experiments", "peers", "barnabas/cli")

KAFKA: Final = frozenset(
    line
    for line in Path(__file__).with_name("kafka_settings.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)

FIRST: Final = frozenset(name.split(".")[0] for name in KAFKA)
LAST: Final = frozenset(name.rpartition(".")[2] for name in KAFKA)
"""A dotted word that begins and ends as settings do is meant to be one."""

DRAFTS: Final = frozenset(("partition.assignment.strategies", "max.session.timeout"))
"""Settings of designs that never shipped."""

OTHER_OPTIONS: Final = frozenset(("--help", "--topic", "--line"))
"""Of every command; of the program that an example explores; a variable of a style sheet."""


def sentences(path: Path) -> Iterator[str]:
    """The texts of a file."""
    tree = ast.parse(path.read_text("utf-8"))
    passed = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            passed.update(map(id, node.values))
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield "".join(map(str, parts))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in passed
        ):
            yield node.value


def said() -> Iterator[tuple[str, str]]:
    """(file, text) of all that people read."""
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("*.py")):
            if "clients/programs" not in str(path):
                name = str(path.relative_to(ROOT))
                yield from ((name, text) for text in sentences(path) if " " in text)


ALL: Final = tuple(said())


SHORT: Final = frozenset(("ctl", "scenario", "demo"))
"""Groups of commands whose help has no examples yet."""


def tree() -> dict[str, frozenset[str]]:
    """The options of each command, by the words that are typed; groups have none."""
    found: dict[str, frozenset[str]] = {}

    def walk(command: Any, name: str) -> None:
        options = (name for one in command.params for name in (*one.opts, *one.secondary_opts))
        found[name] = frozenset(options)
        for word, inner in getattr(command, "commands", {}).items():
            walk(inner, f"{name} {word}".strip())

    walk(typer.main.get_command(app), "")
    return found


def test_settings_are_kafkas() -> None:
    unknown = {
        (name, word)
        for name, text in ALL
        for word in re.findall(r"(?<![\w./{}$'-])[a-z]+(?:\.[a-z]+)+(?![\w({/-])", text)
        if word.split(".")[0] in FIRST and word.rpartition(".")[2] in LAST
        if word not in KAFKA | DRAFTS
    }
    assert unknown == set()


def test_the_advice_of_checks_names_settings() -> None:
    """So the test above has something to look at."""
    named = {
        word
        for name, text in ALL
        if name.startswith("captures/checks/")
        for word in re.findall(r"[a-z]+(?:\.[a-z]+)+", text)
        if word in KAFKA
    }
    assert len(CHECKS) > 10
    assert {"max.poll.interval.ms", "session.timeout.ms", "enable.idempotence"} <= named
    assert {"client.rack", "auto.offset.reset", "retry.backoff.max.ms"} <= named


def test_commands_exist() -> None:
    known = tree()
    groups = {name.split(" ")[0] for name in known if " " in name}
    wrong = set()
    for name, text in ALL:
        for first, second in re.findall(r"(?:`|^ +|; |sudo )barnabas ([a-z]+)(?: ([a-z]+))?", text):
            path = f"{first} {second}" if first in groups and second else first
            if path not in known:
                wrong.add((name, path))
    assert wrong == set()


def test_options_exist() -> None:
    options = frozenset(OTHER_OPTIONS).union(*tree().values())
    wrong = {
        (name, option)
        for name, text in ALL
        if name.startswith(("captures", "pipeline", "fuzz", "experiments", "barnabas/cli"))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)
        if option not in options
    }
    assert wrong == set()


def commands() -> Iterator[tuple[str, Any, frozenset[str]]]:
    """(words, command, options of it and of its groups)."""

    def walk(
        command: Any, name: str, above: frozenset[str]
    ) -> Iterator[tuple[str, Any, frozenset[str]]]:
        options = (opt for one in command.params for opt in (*one.opts, *one.secondary_opts))
        mine = above | frozenset(options)
        if not hasattr(command, "commands"):
            yield name, command, mine
        for word, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{name} {word}".strip(), mine)

    yield from walk(typer.main.get_command(app), "", frozenset())


def test_examples_use_options_of_their_command() -> None:
    wrong = []
    for name, command, options in commands():
        for line in (command.epilog or "").splitlines():
            _, mine, given = line.partition(f"barnabas {name} ")
            given = given.split(" | ")[0].split(" -- ")[0]
            named = re.findall(r"(?<![\w-])--[a-z][a-z-]+", given) if mine else ()
            wrong += [line for option in named if option not in options]
    assert wrong == []


def test_every_help_ends_with_two_examples() -> None:
    lacking = [
        name
        for name, command, _ in commands()
        if name.split(" ")[0] not in SHORT
        if (command.epilog or "").count(f"barnabas {name}") < 2
    ]
    assert lacking == []
