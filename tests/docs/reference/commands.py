"""The page of commands: each with its help, arguments, options and examples."""

from __future__ import annotations

from collections.abc import Iterator
from enum import EnumMeta
from itertools import chain
from typing import Any, get_args

import typer.main

from barnabas.cli.app import app
from barnabas.cli.console.help import examples_of
from tests.docs.reference.markdown import block, code, page, prose, table


def every() -> Iterator[tuple[str, Any]]:
    """(name as it is typed, command), in the order of the help."""
    yield from _below(typer.main.get_command(app), "barnabas")


def _below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for word in command.list_commands(None):
        yield from _below(command.get_command(None, word), f"{name} {word}")


def commands() -> str:
    """The page."""
    root = typer.main.get_command(app)
    intro = (
        "`barnabas COMMAND --help` prints the same. [Exit codes](exit-codes.md) are those of all commands. "
        "Options of `barnabas` itself stand before the command."
    )
    parts = [intro, _parameters(root)]
    for name, command in every():
        parts += [
            f"## {name}",
            _paragraphs(command.help),
            _parameters(command),
            block("\n".join(examples_of(command))),
        ]
    return page("Commands and options", *parts)


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(prose(part) for part in (text or "").split("\n\n"))


def _parameters(command: Any) -> str:
    rows = [
        (_name(one), prose(getattr(one, "help", "")), _default(one))
        for one in command.params
        if not getattr(one, "hidden", False)
    ]
    return table(("option", "what it does", "default"), rows) if rows else ""


def _name(one: Any) -> str:
    if one.param_type_name == "argument":
        return code(one.metavar or one.name.upper())
    names = ", ".join(code(name) for name in (*one.opts, *one.secondary_opts))
    return names if one.is_flag or one.count else f"{names} {code(one.metavar or _choices(one))}"


def _choices(one: Any) -> str:
    """What it takes, if its declaration does not say: the words that it may be, or the name of a type."""
    return "|".join(_words(one.type_descriptor.annotation))


def _words(asked: Any) -> Iterator[str]:
    if isinstance(asked, str):  # of a Literal
        yield asked
    elif isinstance(asked, EnumMeta):
        yield from map(str, asked.__members__)
    elif get_args(asked):
        yield from chain.from_iterable(map(_words, get_args(asked)))
    elif asked is not type(None):
        yield asked.__name__.upper()


def _default(one: Any) -> str:
    if one.required:
        return "required"
    if isinstance(one.show_default, str):
        return str(one.show_default)
    if one.default is None or callable(one.default) or isinstance(one.default, bool | list | tuple):
        return ""
    return code(getattr(one.default, "value", one.default))
