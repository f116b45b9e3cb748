"""`barnabas ctl`: the control port of a running proxy from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import typer

from barnabas.api_version import PREFIX
from barnabas.cli.console.help import examples
from barnabas.cli.console.options import Filter
from barnabas.cli.ctl.breakpoints import add_breakpoints
from barnabas.cli.ctl.port import AnyOrder, Port, port_errors, read
from barnabas.plural import plural
from barnabas.proxy.control import lines
from barnabas.trouble import FINE, Trouble

ctl_app = typer.Typer(
    cls=AnyOrder,
    no_args_is_help=True,
    help="Inspect and control a running proxy.",
    epilog=examples(
        "barnabas proxy -b localhost:9092 --control 127.0.0.1:9999 --control-token-file token",
        "barnabas ctl --control 127.0.0.1:9999 --token-file token status",
        "export BARNABAS_CONTROL=127.0.0.1:9999 BARNABAS_TOKEN_FILE=token",
        "barnabas ctl exchanges --follow --filter \"api == 'Produce' && latency_ms > 100\"",
        "barnabas ctl connections --json | jq .[].client_id",
    ),
)
scenario_app = typer.Typer(no_args_is_help=True, help="Show or replace the scenario.")
rule_app = typer.Typer(
    no_args_is_help=True, help="List, add, remove or fire rules, or release what one holds."
)
ctl_app.add_typer(scenario_app, name="scenario")
ctl_app.add_typer(rule_app, name="rule")


@ctl_app.callback()
def connect(
    ctx: typer.Context,
    control: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", envvar="BARNABAS_CONTROL", help="The control port."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", envvar="BARNABAS_TOKEN", help="The control port's token."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", envvar="BARNABAS_TOKEN_FILE", help="The file with the token."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Keep the address and the token of the control port for all commands."""
    ctx.obj = Port(control, token, token_file, as_json)


@ctl_app.command(epilog=examples("barnabas ctl status", "barnabas ctl status --json | jq .capture"))
def status(ctx: typer.Context) -> None:
    """Show the proxy as a whole: listeners, counts, capture."""
    ctx.obj.send("GET", "/status", lines.status)


@ctl_app.command(
    epilog=examples(
        "barnabas ctl connections", "barnabas ctl connections --json | jq .[].client_id"
    )
)
def connections(ctx: typer.Context) -> None:
    """List the connections that are open."""
    ctx.obj.send("GET", "/connections", lines.connections)


@ctl_app.command(
    epilog=examples(
        "barnabas ctl exchanges --last 20",
        "barnabas ctl exchanges --follow --filter \"error != ''\" --json",
    )
)
def exchanges(
    ctx: typer.Context,
    last: Annotated[int, typer.Option(min=0, help="Print the last N exchanges.")] = 1000,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Print exchanges as they pass, until Ctrl-C.")
    ] = False,
    only: Filter = None,
) -> None:
    """Print the last exchanges, or new ones until Ctrl-C, as the log does."""
    from barnabas.cli.console.layout import Columns
    from barnabas.cli.console.show import log_line_of_row, show
    from barnabas.cli.console.terminal import Terminal

    port: Port = ctx.obj
    out, columns = Terminal(), Columns()

    def each(row: dict[str, Any]) -> None:
        port.print(row, lambda: show(out, log_line_of_row(row), columns))

    query: dict[str, str | int] = {} if only is None else {"filter": only}
    if not follow:
        for row in port.ask("GET", f"/exchanges?{urlencode({**query, 'last': last})}"):
            each(row)
        return
    try:
        with port_errors():
            for name, row in port.client.events(f"/exchanges/stream?{urlencode(query)}"):
                if name == "exchange":
                    each(row)
                else:
                    lost = plural(row["count"], "exchange")
                    sys.stderr.write(f"{lost} lost: this reader is too slow\n")
    except KeyboardInterrupt:
        raise typer.Exit(FINE) from None


@scenario_app.command(
    "get",
    epilog=examples(
        "barnabas ctl scenario get > now.yaml", "barnabas ctl scenario get --json | jq .rules"
    ),
)
def scenario_get(ctx: typer.Context) -> None:
    """Print the scenario; with --json also the counters of its rules."""
    ctx.obj.send("GET", "/scenario", lambda response: response["text"].splitlines())


@scenario_app.command(
    "set",
    epilog=examples(
        "barnabas ctl scenario set slow.yaml",
        "barnabas scenario show commit-after-join | barnabas ctl scenario set -",
    ),
)
def scenario_set(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario (YAML); - is stdin.")],
) -> None:
    """Replace the scenario for all connections at once; an invalid scenario changes nothing."""
    response = ctx.obj.ask("PUT", "/scenario", read(file))
    ctx.obj.show(response, lines.rules(response))
    _print_remarks(ctx.obj, response["text"])


def _print_remarks(port: Port, scenario: str, part: str = "") -> None:
    """Print the warnings and notes on a scenario that contain `part`, to stderr."""
    from barnabas.captures.kafka.wording import printable

    for line in port.ask("POST", "/scenario/check", scenario.encode())["remarks"]:
        if part in line:
            sys.stderr.write(printable(line) + "\n")


@rule_app.command(
    "list",
    epilog=examples(
        "barnabas ctl rule list", "barnabas ctl rule list --json | jq '.[] | select(.fired == 0)'"
    ),
)
def rule_list(ctx: typer.Context) -> None:
    """List the rules: how often each matched and fired, and what it does."""
    from barnabas.cli.console.tables import RuleRow, rules_table
    from barnabas.cli.console.terminal import Terminal

    port: Port = ctx.obj
    rule_rows = port.ask("GET", "/scenario")["rules"]
    rows = [RuleRow(*(row[name] for name in RuleRow._fields)) for row in rule_rows]
    if rows:
        port.print(rule_rows, lambda: Terminal().show_table(rules_table(rows)))
    else:
        port.show(rule_rows, ["no rules"])


@rule_app.command(
    "add",
    epilog=examples(
        "echo '{name: slow, match: {api: Fetch}, do: {delay: 1s}}' | barnabas ctl rule add -",
        "echo '{name: moved, match: {api: Produce}, do: {respond: {error: 6, only: {partition: 1}}}}' |"
        " barnabas ctl rule add -",
        "barnabas ctl rule add slow-fetches-rule.yaml",
    ),
)
def rule_add(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A rule (YAML); - is stdin.")],
) -> None:
    """Add a rule after the others."""
    response = ctx.obj.ask("POST", "/scenario/rules", read(file))
    ctx.obj.show(response, lines.rules(response))
    _print_remarks(ctx.obj, response["text"], f" rule {response['rules'][-1]['name']!r}")


RuleName = Annotated[str, typer.Argument(metavar="NAME", help="The rule's name.")]


@rule_app.command(
    "remove",
    epilog=examples(
        "barnabas ctl rule remove slow", "barnabas ctl rule remove 'a commit behind a heartbeat'"
    ),
)
def rule_remove(ctx: typer.Context, name: RuleName) -> None:
    """Remove a rule; frames that it holds are forwarded in order."""
    ctx.obj.send("DELETE", f"/scenario/rules/{quote(name, safe='')}", lines.rules)


@rule_app.command(
    "fire",
    epilog=examples(
        "barnabas ctl rule fire slow", "barnabas ctl rule fire slow --json | jq .fired"
    ),
)
def rule_fire(ctx: typer.Context, name: RuleName) -> None:
    """Make a rule fire on its next match, regardless of its `when`."""
    _act(ctx, name, "fire")


@rule_app.command(
    "release",
    epilog=examples(
        "barnabas ctl rule release held-commits", "barnabas ctl rule release held-commits --json"
    ),
)
def rule_release(ctx: typer.Context, name: RuleName) -> None:
    """Forward all messages that a rule holds."""
    _act(ctx, name, "release")


def _act(ctx: typer.Context, name: str, action: str) -> None:
    path = f"/scenario/rules/{quote(name, safe='')}/{action}"
    ctx.obj.send("POST", path, lambda response: [lines.rule(response)])


Number = Annotated[int, typer.Argument(metavar="N", help="See `barnabas ctl connections`.")]


@ctl_app.command(
    epilog=examples("barnabas ctl pause 3", "barnabas ctl pause 3 && barnabas ctl step 3")
)
def pause(ctx: typer.Context, number: Number) -> None:
    """Stop reading from both sides of a connection; the system buffers what arrives."""
    _steer(ctx, number, "pause")


@ctl_app.command(epilog=examples("barnabas ctl step 3", "barnabas ctl step 3 --direction response"))
def step(
    ctx: typer.Context,
    number: Number,
    direction: Annotated[str, typer.Option(help="request or response.")] = "request",
) -> None:
    """Let one frame of a paused connection through."""
    _steer(ctx, number, f"step?{urlencode({'direction': direction})}")


@ctl_app.command(epilog=examples("barnabas ctl resume 3", "barnabas ctl resume 3 --json"))
def resume(ctx: typer.Context, number: Number) -> None:
    """Resume a paused connection."""
    _steer(ctx, number, "resume")


@ctl_app.command(epilog=examples("barnabas ctl close 3", "barnabas ctl close 3 --json"))
def close(ctx: typer.Context, number: Number) -> None:
    """Close both sides of a connection."""
    _steer(ctx, number, "close")


def _steer(ctx: typer.Context, number: int, action: str) -> None:
    path = f"/connections/{number}/{action}"
    try:
        ctx.obj.send("POST", path, lambda response: [lines.connection(response)])
    except Trouble as problem:  # its message is written for HTTP clients
        text = str(problem).replace(f"GET {PREFIX}/connections", "`barnabas ctl connections`")
        raise Trouble(text, problem.code) from None


add_breakpoints(ctl_app)


@ctl_app.command(
    epilog=examples(
        "barnabas ctl drain", "barnabas ctl drain --control 127.0.0.1:9999 --token-file token"
    )
)
def drain(ctx: typer.Context) -> None:
    """Stop the proxy as SIGTERM does: requests in flight finish first."""
    ctx.obj.send("POST", "/drain", lambda _: ["the proxy drains and stops"])


@ctl_app.command(epilog=examples("barnabas ctl metrics", "barnabas ctl metrics | grep latency"))
def metrics(ctx: typer.Context) -> None:
    """Print the metrics in Prometheus' text format."""
    port: Port = ctx.obj
    with port_errors():
        sys.stdout.write(port.client.text("GET", "/metrics"))
