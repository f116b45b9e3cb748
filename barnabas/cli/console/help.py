"""The layout of help: commands by topic, an option and its opposite together, examples at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from barnabas.trouble import FINE

SHOWN: Final = 3
"""Examples of a group without own examples: the first of each of its first commands."""


def examples(*commands: str, note: str = "") -> str:
    r"""Return the epilog of a command: its examples, one command line each, and a note.

    >>> examples("barnabas spec list", "barnabas spec list group", note="Exit code 0.")
    'Examples:\n\n  barnabas spec list\n\n  barnabas spec list group\n\nExit code 0.'
    """
    lines = ["Examples:", *(f"  {line}" for line in commands), note]
    return "\n\n".join(line for line in lines if line)


def examples_of(command: Any) -> list[str]:
    """Return the examples of a command; of a group without examples, the first of each of its commands."""
    lines = [line.strip() for line in (command.epilog or "").splitlines() if line.startswith(" ")]
    inner = getattr(command, "commands", {}).values()
    return lines or [line for child in inner for line in examples_of(child)[:1]][:SHOWN]


ALONE: Final = {"--web": "127.0.0.1:0", "--toxiproxy": "127.0.0.1:8474"}
"""Options that may be given without a value, and the value that they then have; typer lacks this."""


class Command(TyperCommand):
    """A command whose help ends with examples, and whose options in `ALONE` need no value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command line, after adding the values of options in `ALONE`."""
        following = [*args[1:], "-"]
        words = [
            f"{word}={ALONE[word]}" if word in ALONE and next_word.startswith("-") else word
            for word, next_word in zip(args, following, strict=False)
        ]
        return super().parse_args(ctx, words)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help and the examples."""
        with _before_examples(self, ctx):
            super().format_help(ctx, formatter)


class Group(TyperGroup):
    """A group whose help ends with examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help and the examples."""
        with _before_examples(self, ctx):
            super().format_help(ctx, formatter)


@contextmanager
def _before_examples(command: Any, ctx: Any) -> Iterator[None]:
    from barnabas.cli.console.terminal import Terminal

    for option in command.get_params(ctx):
        if getattr(option, "is_flag", False):
            option.metavar = ""  # a flag takes no value; typer would print <bool>
        if option.secondary_opts:
            # an option and its opposite share a column, or names would be cut on a terminal of 80
            option.opts = [f"--[no-]{option.opts[0].removeprefix('--')}"]
            option.secondary_opts = []
    lines = ["Examples:", *(f"  {line}" for line in examples_of(command))]
    lines += [line for line in (command.epilog or "").splitlines()[1:] if line[:1].strip()]
    command.epilog = None  # typer would fold it and read brackets as markup
    try:
        yield
        out = Terminal()
        for line in lines:
            out.print(f" {line}")
    except (BrokenPipeError, SystemExit):  # the reader closed the pipe: rich would exit with 1
        raise typer.Exit(FINE) from None


def arrange(app: typer.Typer, topics: Mapping[str, Sequence[str]] | None = None) -> None:
    """Give all commands of an application this help, and put its commands into the panels of their topics."""
    panels = {name: topic for topic, names in (topics or {}).items() for name in names}
    for command in app.registered_commands:
        command.cls = Command
        command.rich_help_panel = panels.get(command.name or "")
    for group in app.registered_groups:
        inner = group.typer_instance
        assert inner is not None  # noqa: S101
        if not isinstance(inner.info.cls, type):
            inner.info.cls = Group
        if isinstance(group.name, str):
            group.rich_help_panel = panels.get(group.name)
            arrange(inner)
        else:
            arrange(inner, topics)
