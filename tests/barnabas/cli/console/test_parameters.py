"""Options as classes: what a command line makes of them, and what its help shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import pytest
import typer.main

from barnabas.cli.console.parameters import MAIN, given, takes, written
from barnabas.trouble import Trouble


def parse_pair(text: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is no pair")
    return left, right


@dataclass(frozen=True, kw_only=True)
class Group:
    PANEL: ClassVar = "Pairs"

    pair: Annotated[tuple[str, str], typer.Option(help="One.", parser=parse_pair)] = written(
        parse_pair, "a=b"
    )
    more: Annotated[list[tuple[str, str]], typer.Option("--also", "-a", parser=parse_pair)] = field(
        default_factory=list
    )
    loud: Annotated[bool, typer.Option("--loud/--quiet", rich_help_panel=MAIN)] = False

    def __post_init__(self) -> None:
        if self.loud and self.more:
            raise Trouble("--loud is for one pair")


@dataclass(frozen=True, kw_only=True)
class Whole:
    name: Annotated[str, typer.Argument()]
    group: Group = field(default_factory=Group)
    count: Annotated[int | None, typer.Option(min=1)] = None


FOUND: list[Whole] = []


@takes(Whole)
def whole(options: Whole) -> int:
    """Do the whole."""
    FOUND.append(options)
    return 7


def application() -> typer.Typer:
    """An application whose only command takes all of them."""
    app = typer.Typer(add_completion=False)
    app.command()(whole)
    return app


def called(*words: str) -> Whole:
    """What a command line makes."""
    assert application()(words, standalone_mode=False) == 7
    return FOUND.pop()


def test_fields_of_groups_are_parameters_at_their_place() -> None:
    command: Any = typer.main.get_command(application())
    assert [one.name for one in command.params] == ["name", "pair", "more", "loud", "count"]
    assert [getattr(one, "rich_help_panel", None) for one in command.params] == [
        *(None, "Pairs", "Pairs", "Options", None)
    ]
    assert command.help == "Do the whole."


def test_values_are_parsed_once_and_defaults_are_as_they_are_written() -> None:
    assert called("n") == Whole(name="n")
    assert Group().pair == ("a", "b")
    assert called("n", "--pair", "c=d", "-a", "e=f", "--also", "g=", "--count", "2") == Whole(
        name="n", group=Group(pair=("c", "d"), more=[("e", "f"), ("g", "")]), count=2
    )
    command: Any = typer.main.get_command(application())
    assert next(one.default for one in command.params if one.name == "pair") == "a=b"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pair", "c"), "--pair: 'c' is no pair"),
        (("-a", "c"), "--also: 'c' is no pair"),
        (("--loud", "-a", "c=d"), "--loud is for one pair"),
    ],
)
def test_what_is_wrong_names_the_option(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(Trouble) as raised:
        called("n", *words)
    assert str(raised.value) == said


def test_what_is_given_is_named_as_it_is_typed() -> None:
    assert given(called("n")) == {"--name": "n"}
    found = given(called("n", "--loud", "--count", "1", "--pair", "a=c"))
    assert found == {"--name": "n", "--pair": ("a", "c"), "--loud": True, "--count": 1}
