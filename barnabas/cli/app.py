"""The command line."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from barnabas import __version__
from barnabas.cli.analyze.command import analyze_app
from barnabas.cli.captures.commands import capture_app
from barnabas.cli.clients.commands import clients_app
from barnabas.cli.conform.command import conform_app
from barnabas.cli.console.help import Group, arrange, examples
from barnabas.cli.console.streams import make_usable, say
from barnabas.cli.ctl.ctl import ctl_app
from barnabas.cli.experiments.command import experiment_app
from barnabas.cli.explore.command import explore_app
from barnabas.cli.fuzz.commands import fuzz_app
from barnabas.cli.peers.commands import peers_app
from barnabas.cli.proxy.command import proxy_app
from barnabas.cli.replay.command import replay_app
from barnabas.cli.scenarios.commands import scenario_app
from barnabas.cli.serve_tests.command import serve_tests_app
from barnabas.cli.specs.commands import spec_app
from barnabas.trouble import COULD_NOT_RUN, FINE, MISUSE, Trouble

TOPICS: Final = {
    "Traffic": ("proxy", "ctl", "demo"),
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

_MISUSE: Final[Any] = typer.BadParameter.__base__
"""What is raised for options that can't be; typer does not name it."""


class _Root(Group):
    """All commands, by topic."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of commands, in the order of the help."""
        return [name for names in TOPICS.values() for name in names]

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what it returns is the exit code, whoever runs the app.

        A reader of the output may stop reading: the exit code is 0 then, while typer's would be 1.
        """
        try:
            code = super().invoke(ctx)
        except BrokenPipeError:
            code = FINE
        raise typer.Exit(code or FINE)


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
for commands in (
    capture_app,
    proxy_app,
    explore_app,
    analyze_app,
    replay_app,
    conform_app,
    serve_tests_app,
):
    app.add_typer(commands)
app.add_typer(scenario_app, name="scenario")
app.add_typer(spec_app, name="spec")
app.add_typer(peers_app, name="peers")
app.add_typer(ctl_app, name="ctl")
app.add_typer(experiment_app, name="experiment")
app.add_typer(fuzz_app, name="fuzz")
app.add_typer(clients_app, name="clients")


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
            "--until-eof", help="Stop, as by SIGTERM, when stdin ends: for programs that start it."
        ),
    ] = False,
) -> None:
    if until_eof:
        from barnabas.cli.console.until_eof import stop_at_eof

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
            metavar="[HOST:PORT]", help="Show traffic that goes on, on a page for the browser."
        ),
    ] = None,
) -> int:
    """Show what it does: an embedded cluster, real clients, a scenario, a capture."""
    if web is not None:
        from barnabas.addresses import parse_address
        from barnabas.cli.demo.live import live_demo

        return live_demo(parse_address(web, zero=True), capture)
    from barnabas.cli.demo import demo

    return demo(capture or Path("demo.pcapng"))


arrange(app, TOPICS)


def main() -> None:
    """The entry point: troubles are one line and an exit code, never a traceback."""
    make_usable()
    try:
        sys.exit(app(prog_name="barnabas", standalone_mode=False))
    except Trouble as trouble:
        from barnabas.cli.console.terminal import lines

        say(lines(str(trouble)))
        sys.exit(trouble.code)
    except _MISUSE as problem:
        if said := problem.format_message():  # else it was the help
            from barnabas.captures.kafka.wording import printable

            help_of = problem.ctx.command_path if problem.ctx else "barnabas"
            say(f"{printable(said.rstrip('.'))}; see {help_of} --help")
        sys.exit(MISUSE)
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        say(f"the output is not complete: {problem.strerror}")
        sys.exit(COULD_NOT_RUN)
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # what it still has is lost, and was said to be: it must not try again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
