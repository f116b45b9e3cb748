"""How help looks: commands by topic, an option and its opposite together, examples at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from barnabas.trouble import FINE

SHOWN: Final = 3
"""Examples of a group that has none of its own: the first of each of so many commands."""


def examples(*commands: str, note: str = "") -> str:
    """The epilog of a command: command lines as they are typed, and a note.

    >>> examples("barnabas spec list", "barnabas spec list group", note="Exit code 0.")
    'Examples:\\n\\n  barnabas spec list\\n\\n  barnabas spec list group\\n\\nExit code 0.'
    """
    lines = ["Examples:", *(f"  {line}" for line in commands), note]
    return "\n\n".join(line for line in lines if line)


def examples_of(command: Any) -> list[str]:
    """The command lines below a command's help."""
    own = [line.strip() for line in (command.epilog or "").splitlines() if line.startswith(" ")]
    inner = getattr(command, "commands", {}).values()
    return own or [line for one in inner for line in examples_of(one)[:1]][:SHOWN]


ALONE: Final = {"--web": "127.0.0.1:0", "--toxiproxy": "127.0.0.1:8474"}
"""Options that may stand without a value, and which they have then; typer knows no such ones."""


class Command(TyperCommand):
    """A command whose help ends with examples, and of which options may be ALONE."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what was typed."""
        following = [*args[1:], "-"]
        given = [
            f"{one}={ALONE[one]}" if one in ALONE and after.startswith("-") else one
            for one, after in zip(args, following, strict=False)
        ]
        return super().parse_args(ctx, given)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, which is the last thing that is done."""
        with _before_examples(self, ctx):
            super().format_help(ctx, formatter)


class Group(TyperGroup):
    """A group whose help ends with examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, which is the last thing that is done."""
        with _before_examples(self, ctx):
            super().format_help(ctx, formatter)


@contextmanager
def _before_examples(command: Any, ctx: Any) -> Iterator[None]:
    from barnabas.cli.console.terminal import Terminal

    for option in command.get_params(ctx):
        if getattr(option, "is_flag", False):
            option.metavar = ""  # it takes no value, and typer would say <bool>
        if option.secondary_opts:
            # an option and its opposite share a column, or names would be cut on a terminal of 80
            option.opts = [f"--[no-]{option.opts[0].removeprefix('--')}"]
            option.secondary_opts = []
    lines = ["Examples:", *(f"  {line}" for line in examples_of(command))]
    lines += [line for line in (command.epilog or "").splitlines()[1:] if line[:1].strip()]
    command.epilog = None  # typer's would be folded, and what is in brackets would be markup
    try:
        yield
        out = Terminal()
        for line in lines:
            out.print(f" {line}")
    except (BrokenPipeError, SystemExit):  # whoever read it has seen enough: rich would exit with 1
        raise typer.Exit(FINE) from None


def arrange(app: typer.Typer, topics: Mapping[str, Sequence[str]] | None = None) -> None:
    """Give all commands of an application this help, and its own commands their topics."""
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
