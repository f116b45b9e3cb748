"""Options as classes: the fields of a dataclass are the parameters of a command.

The type of a field has its option, as in typer. A field whose type is such a class is a group of options,
which several commands may share. A class checks its values in `__post_init__` and raises Trouble.

    @dataclass(frozen=True, kw_only=True)
    class BrokerTls:
        PANEL: ClassVar = "TLS to the brokers"

        broker_ca: Annotated[Path | None, typer.Option(metavar="FILE", help="...")] = None

    @dataclass(frozen=True, kw_only=True)
    class ReplayOptions:
        speed: Annotated[float, typer.Option(help="...", parser=speed)] = written(speed, "1")
        tls: BrokerTls = field(default_factory=BrokerTls)

    @app.command("replay")
    @takes(ReplayOptions)
    def replay_command(options: ReplayOptions) -> int: ...

cyclopts 5.5 and tyro 1.0 take dataclasses, too. With 44 options in groups they start as fast (`--help`: 1.1 s
and 1.3 s, typer 1.2 s, at load 16). Their error messages differ, and in tyro no option has an optional value.

`--help` shows the options of a class in its PANEL. A parser gets the text of an option, and raises ValueError
or Trouble. A command returns its exit code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, Field, field, fields, is_dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

from typer.models import OptionInfo, ParameterInfo

from barnabas.trouble import Trouble

T = TypeVar("T")

MAIN: Final = "Options"
"""The panel of the most important options, for fields of a class that has another panel."""


def takes(
    options: type[T],
) -> Callable[[Callable[[T], int | None]], Callable[..., int | None]]:
    """Return a decorator that gives a function of these options the parameters of a command."""

    def decorate(function: Callable[[T], int | None]) -> Callable[..., int | None]:
        def command(**values: Any) -> int | None:
            return function(_filled(options, values))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = Signature([*_parameters(options)])  # type: ignore[attr-defined]
        command.__annotations__ = {}
        return command

    return decorate


def written(parse: Callable[[str], T], text: str) -> T:
    """Return a field whose default is a text, as `--help` shows it, and its value, parsed on first use."""
    default: T = field(default_factory=lambda: parse(text), metadata={"text": text})
    return default


def given(options: object) -> dict[str, Any]:
    """Return the values that differ from their defaults, by option as a user types it."""
    changed: dict[str, Any] = {}
    for option_field, hint in _hints(type(options)):
        value = getattr(options, option_field.name)
        if is_dataclass(hint):
            changed |= given(value)
        elif value != _default(option_field):
            changed[_option(option_field, hint)] = value
    return changed


def _hints(options: Any) -> list[tuple[Field[Any], Any]]:
    """Return each field of a class with its type."""
    hints = get_type_hints(options, include_extras=True)
    return [(option_field, hints[option_field.name]) for option_field in fields(options)]


def _parameters(options: Any) -> Iterator[Parameter]:
    """Make the parameters of a command that takes these options, those of groups at their place."""
    for option_field, hint in _hints(options):
        if is_dataclass(hint):
            yield from _parameters(hint)
            continue
        default = option_field.metadata["text"] if option_field.metadata else _default(option_field)
        value_type, info = get_args(hint)
        info = copy(info)
        if info.rich_help_panel is None and isinstance(info, OptionInfo):
            info.rich_help_panel = getattr(options, "PANEL", None)
        if info.parser is not None:
            info.parser = functools.partial(_parsed, info.parser, _option(option_field, hint))
            value_type = _of_text(value_type)
        annotation = Annotated[value_type, info]  # type: ignore[valid-type]
        yield Parameter(
            option_field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )


def _of_text(value_type: Any) -> Any:
    """Return the type of a parsed option as typer can take it: of a tuple it would take several words."""
    if get_origin(value_type) is list:
        (item,) = get_args(value_type)
        return list[_of_text(item)]  # type: ignore[misc]
    return value_type if isinstance(value_type, type) else str


def _default(option_field: Field[Any]) -> Any:
    if option_field.default_factory is not MISSING:
        return option_field.default_factory()
    return Parameter.empty if option_field.default is MISSING else option_field.default


def _option(option_field: Field[Any], hint: Any) -> str:
    """Return the long name of an option."""
    info: ParameterInfo = get_args(hint)[1]
    names = (info.default, *(info.param_decls or ()))
    long = (name for name in names if isinstance(name, str) and name.startswith("--"))
    return next(long, f"--{option_field.name.replace('_', '-')}").partition("/")[0]


def _parsed(parse: Callable[[str], Any], option: str, text: str) -> Any:
    """Parse the value of an option. Raises Trouble, naming the option."""
    try:
        return parse(text)
    except ValueError as problem:
        raise Trouble(f"{option}: {problem}") from None


def _filled(options: type[T], values: Mapping[str, Any]) -> T:
    """Make an instance of the values of a command line. Raises Trouble."""
    return options(
        **{
            each.name: _filled(hint, values) if is_dataclass(hint) else values[each.name]  # type: ignore[arg-type]
            for each, hint in _hints(options)
        }
    )
