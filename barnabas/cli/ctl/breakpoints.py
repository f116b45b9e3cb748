"""`barnabas ctl breakpoints` and `decide`: messages that wait, and what becomes of one."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer

from barnabas.api_version import PREFIX
from barnabas.cli.console.help import examples
from barnabas.cli.console.json_text import json_text
from barnabas.cli.ctl.port import Port
from barnabas.proxy.control import lines
from barnabas.trouble import Trouble

Id = Annotated[str, typer.Argument(metavar="ID", help="See `barnabas ctl breakpoints`.")]


def add_breakpoints(app: typer.Typer) -> None:
    """Add both commands to `barnabas ctl`."""
    app.command(epilog=examples("barnabas ctl breakpoints", "barnabas ctl breakpoints 12.1"))(
        breakpoints
    )
    app.command(
        epilog=examples(
            "barnabas ctl decide 12.1",
            "barnabas ctl decide 12.1 '{edit: {set: {throttle_time_ms: 500}}}'",
            "barnabas ctl decide 12.1 '{respond: {error: NOT_COORDINATOR}}'",
            "barnabas ctl decide 12.1 drop > again.yaml",
        )
    )(decide)


def breakpoints(
    ctx: typer.Context,
    each: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Show this message with its body.")
    ] = None,
) -> None:
    """List the messages that wait at breakpoints."""
    if each is None:
        ctx.obj.send("GET", "/breakpoints", lines.breakpoints)
    else:
        _send(ctx, "GET", each, _shown)


def decide(
    ctx: typer.Context,
    message: Id,
    do: Annotated[
        str,
        typer.Argument(
            metavar="[DO]",
            help="The fault to apply, as in a rule's `do`: edit, replace, rewrite, respond, drop, "
            "close or reset. Without it the message is forwarded unchanged.",
        ),
    ] = "",
) -> None:
    """Forward, change, drop or answer a message at a breakpoint, or end its connection.

    Prints a scenario that repeats the decision.
    """
    _send(ctx, "POST", message, lines.decided, do.encode())


def _send(
    ctx: typer.Context, method: str, each: str, words: Any, body: bytes | None = None
) -> None:
    port: Port = ctx.obj
    try:
        port.send(method, f"/breakpoints/{quote(each, safe='')}", words, body)
    except Trouble as problem:  # its message is written for HTTP clients
        text = str(problem).replace(f"GET {PREFIX}/breakpoints", "`barnabas ctl breakpoints`")
        raise Trouble(text, problem.code) from None


def _shown(message: Any) -> list[str]:
    body = message["problem"] or json_text(message["body"], indent=2)
    return [lines.breakpoint(message), *body.splitlines()]
