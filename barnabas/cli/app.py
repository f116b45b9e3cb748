"""The command line."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from barnabas import __version__
from barnabas.cli.console.help import Group, arrange, examples
from barnabas.cli.console.streams import make_usable, say
from barnabas.trouble import COULD_NOT_RUN, FINE, MISUSE, Trouble

TOPICS: Final = {
    "Traffic": ("proxy", "ctl", "top", "demo"),
    "Captures": (
        "decode",
        "open",
        "summary",
        "check",
        "grep",
        "diff",
        "convert",
        "analyze",
        "capture",
    ),
    "Faults": ("scenario", "rehearse", "explore", "clients"),
    "Fuzzing": ("fuzz",),
    "Protocol": ("spec",),
    "Tests": ("conform", "serve-tests"),
    "Brokers": ("peers", "serve", "replay", "experiment"),
}
"""The commands by what people come for, the common ones first."""

_CAPTURES: Final = "captures.commands:capture_app"

_COMMANDS: Final = {
    "proxy": "proxy.command:proxy_app",
    **dict.fromkeys(("decode", "open", "summary", "check", "grep", "diff"), _CAPTURES),
    **dict.fromkeys(("convert", "capture", "rehearse", "serve"), _CAPTURES),
    "analyze": "analyze.command:analyze_app",
    "explore": "explore.command:explore_app",
    "conform": "conform.command:conform_app",
    "serve-tests": "serve_tests.command:serve_tests_app",
    "replay": "replay.command:replay_app",
    "top": "top.command:top_app",
}
"""The typer application in which a command is, as `module:NAME` in this package."""

_GROUPS: Final = {
    "ctl": "ctl.ctl:ctl_app",
    "scenario": "scenarios.commands:scenario_app",
    "clients": "clients.commands:clients_app",
    "fuzz": "fuzz.commands:fuzz_app",
    "spec": "specs.commands:spec_app",
    "peers": "peers.commands:peers_app",
    "experiment": "experiments.command:experiment_app",
}
"""The typer application that is a group of commands, as `module:NAME` in this package."""

_MISUSE: Final[Any] = typer.BadParameter.__base__
"""The exception for invalid options, which typer does not export."""


class _Root(Group):
    """All commands, by topic. A command's module is imported when the command is looked up."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return [name for names in TOPICS.values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; None: unknown, and all commands are imported for a suggestion."""
        known = cmd_name in _COMMANDS or cmd_name in _GROUPS or cmd_name in self.commands
        for name in (cmd_name,) if known else (*_COMMANDS, *_GROUPS):
            if name not in self.commands:
                self.commands.update(_imported(name))
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: Any) -> Any:
        """Run the command and exit with the code that it returns.

        If the reader of the output stops reading, the exit code is 0; typer's would be 1.
        """
        try:
            code = super().invoke(ctx)
        except BrokenPipeError:
            code = FINE
        raise typer.Exit(code or FINE)


def _imported(name: str) -> dict[str, Any]:
    """Import a command's module and build its commands."""
    module, _, attribute = {**_COMMANDS, **_GROUPS}[name].partition(":")
    commands = getattr(import_module(f"barnabas.cli.{module}"), attribute)
    around = typer.Typer(cls=Group, add_completion=False, rich_markup_mode="rich")
    if name in _GROUPS:
        around.add_typer(commands, name=name)
    else:
        around.add_typer(commands)
    arrange(around, TOPICS)
    return {**typer.main.get_group(around).commands}


app = typer.Typer(
    name="barnabas",
    cls=_Root,
    help="A protocol test bench and man-in-the-middle proxy for Apache Kafka.",
    epilog=examples(
        "barnabas demo",
        "barnabas proxy --bootstrap-server localhost:9092 --capture run.pcapng",
        "barnabas check run.pcapng",
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"barnabas {__version__}")
        raise typer.Exit(FINE)


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    until_eof: Annotated[
        bool,
        typer.Option(
            "--until-eof",
            help="Stop when stdin is closed, as on SIGTERM; for programs that start barnabas.",
        ),
    ] = False,
) -> None:
    if until_eof:
        from barnabas.cli.console.stop import stop_at_eof

        stop_at_eof()


@app.command("demo", epilog=examples("barnabas demo", "barnabas demo --web   # until Ctrl-C"))
def demo_command(
    capture: Annotated[
        Path | None,
        typer.Option(
            "--capture",
            "-c",
            metavar="FILE",
            help="Where to write the capture; demo.pcapng unless with --web.",
        ),
    ] = None,
    web: Annotated[
        str | None,
        typer.Option(
            metavar="[HOST:PORT]", help="Keep the traffic running and show it in the browser."
        ),
    ] = None,
) -> int:
    """Show barnabas at work: an embedded cluster, real clients, a scenario, a capture."""
    if web is not None:
        from barnabas.addresses import parse_address
        from barnabas.cli.demo.live import live_demo

        return live_demo(parse_address(web, zero=True), capture)
    from barnabas.cli.demo import demo

    return demo(capture or Path("demo.pcapng"))


arrange(app, TOPICS)


def main() -> None:
    """Run the command line: an error is one line and an exit code, never a traceback."""
    make_usable()
    try:
        sys.exit(app(prog_name="barnabas", standalone_mode=False))
    except Trouble as trouble:
        from barnabas.cli.console.terminal import lines

        say(lines(str(trouble)))
        sys.exit(trouble.code)
    except _MISUSE as problem:
        if message := problem.format_message():  # else the help was printed
            from barnabas.captures.kafka.wording import printable

            message = message.replace(": Value error, ", ": ", 1)  # Pydantic's, which typer shows
            help_of = problem.ctx.command_path if problem.ctx else "barnabas"
            say(f"{printable(message.rstrip('.'))}; see {help_of} --help")
        sys.exit(MISUSE)
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        say(f"the output is not complete: {problem.strerror}")
        sys.exit(COULD_NOT_RUN)
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # buffered output is lost, as reported: Python must not write it again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
