"""Help as people read it: commands by topic, names whole, and examples that the command line takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
import typer

from barnabas.cli.app import TOPICS, app
from barnabas.cli.console.help import examples_of
from tests.barnabas.cli.command import run

ROOT: Any = typer.main.get_command(app)


def below(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A command and all below it, with the words that name each."""
    yield words, command
    for name in command.list_commands(None) if hasattr(command, "commands") else ():
        yield from below(command.get_command(None, name), (*words, name))


COMMANDS = dict(below(ROOT))
"""All commands and groups; the root has no words."""


def calls(line: str) -> list[list[str]]:
    """What a line of a shell says to barnabas, after its name."""
    parts: list[list[str]] = [[]]
    shell = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    shell.whitespace_split = True
    shell.commenters = "#"
    for word in shell:
        if word in ("|", "&&", ";"):
            parts.append([])
        else:
            parts[-1].append(word)
    words = (part[1:] if part[:1] == ["sudo"] else part for part in parts)
    return [cut(part[1:]) for part in words if part[:1] == ["barnabas"]]


def cut(words: list[str]) -> list[str]:
    """Without what goes to or comes from a file."""
    redirected = {index for index, word in enumerate(words) if word in ("<", ">", ">>")}
    return [
        word
        for index, word in enumerate(words)
        if index not in redirected and index - 1 not in redirected
    ]


def named(words: list[str]) -> list[str]:
    """The command that a call names. Raises what the command line would say of its options."""
    command, context = ROOT, None
    said: list[str] = []
    while True:
        context = command.make_context(said[-1] if said else "barnabas", list(words), context)
        if not hasattr(command, "commands"):
            return said
        words = [*context._protected_args, *context.args]
        command = command.get_command(context, words[0])
        said.append(words.pop(0))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_help_ends_with_two_examples_or_more_and_cuts_no_name(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = examples_of(COMMANDS[words])
    assert len(found) >= 2
    done = run(*words, "--help")
    assert (done.returncode, "Usage: " in done.stdout, "…" in done.stdout) == (0, True, False)
    lines = done.stdout.splitlines()
    first = lines.index(" Examples:") + 1
    assert lines[first : first + len(found)] == [f"   {line}" for line in found]
    assert not any("│" in line for line in lines[first:])


@pytest.mark.parametrize("words", [words for words in COMMANDS if words], ids=" ".join)
def test_its_examples_are_of_it_and_the_command_line_takes_them(words: tuple[str, ...]) -> None:
    found = [call for line in examples_of(COMMANDS[words]) for call in calls(line)]
    taken = [tuple(named(call)) for call in found]
    assert sum(one[: len(words)] == words for one in taken) >= 2


def test_every_command_has_a_topic() -> None:
    ROOT.get_command(None, "unknown")  # which imports all
    assert sorted(name for names in TOPICS.values() for name in names) == sorted(ROOT.commands)


def test_the_help_shows_commands_by_topic_in_order() -> None:
    said = run("--help").stdout
    titles = re.findall(r"^╭─ (\w+)", said, re.MULTILINE)
    assert titles == ["Options", *TOPICS]
    places = [said.index(f"│ {name} ") for names in TOPICS.values() for name in names]
    assert all(one < other for one, other in pairwise(places))


def test_proxy_shows_the_ten_options_that_matter_and_the_rest_by_topic() -> None:
    first, *topics = re.split(r"╭─ ", run("proxy", "--help").stdout)[1:]
    assert len(re.findall(r"^│ --(?!help)", first, re.MULTILINE)) == 10
    assert len(topics) > 5
    assert all(1 <= len(re.findall(r"^│ --", topic, re.MULTILINE)) <= 5 for topic in topics)
