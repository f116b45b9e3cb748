"""The command line."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from barnabas import __version__
from barnabas.ctl import ctl_app
from barnabas.spec_commands import spec_app
from barnabas.trouble import FINE, Trouble

app = typer.Typer(
    name="barnabas",
    help="A protocol test bench and man-in-the-middle proxy for Apache Kafka.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
scenario_app = typer.Typer(
    no_args_is_help=True, help="Check scenario files; describe their language."
)
peers_app = typer.Typer(no_args_is_help=True, help="Start brokers to stand behind the proxy.")
app.add_typer(scenario_app, name="scenario")
app.add_typer(spec_app, name="spec")
app.add_typer(peers_app, name="peers")
app.add_typer(ctl_app, name="ctl")


class Log(StrEnum):
    """How exchanges are printed."""

    pretty = "pretty"
    json = "json"
    off = "off"


def _version(value: bool) -> None:
    if value:
        typer.echo(f"barnabas {__version__}")
        raise typer.Exit(FINE)


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(
    "proxy",
    epilog="Examples:\n\n"
    "  barnabas proxy --bootstrap-server localhost:9092\n\n"
    "  barnabas proxy --bootstrap-server b1:9092,b2:9092 --listen 127.0.0.1:19092 "
    "--scenario slow.yaml --capture run.pcapng\n\n"
    "  barnabas proxy --bootstrap-server localhost:9092 --listen localhost:0 --log json | jq .api",
)
def proxy_command(
    bootstrap_server: Annotated[
        str,
        typer.Option("--bootstrap-server", "-b", metavar="HOST:PORT[,...]", help="The cluster."),
    ],
    listen: Annotated[
        str,
        typer.Option(
            "--listen", "-l", metavar="HOST:PORT", help="Where clients connect; port 0 picks one."
        ),
    ] = "127.0.0.1:19092",
    scenario: Annotated[
        Path | None, typer.Option("--scenario", "-s", metavar="FILE", help="Rules to apply (YAML).")
    ] = None,
    capture: Annotated[
        Path | None,
        typer.Option("--capture", "-c", metavar="FILE", help="Write what passes (pcapng)."),
    ] = None,
    capture_limit: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Stop capturing at this size, e.g. 1GiB."),
    ] = None,
    log: Annotated[
        Log, typer.Option(help="How exchanges are printed; off reads only headers.")
    ] = Log.pretty,
    broker_ports: Annotated[
        str | None,
        typer.Option(metavar="FIRST-LAST", help="Ports for the brokers, first + node id if free."),
    ] = None,
    frame_limit: Annotated[
        str,
        typer.Option(metavar="SIZE", help="The largest frame; a larger one closes its connection."),
    ] = "100MiB",
    control: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Listen there (loopback) for `barnabas ctl`."),
    ] = None,
    control_token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the control port's token there."),
    ] = None,
) -> None:
    """Stand between clients and a cluster: log, capture, delay, reorder, drop."""
    from barnabas.addresses import parse_address, parse_ports, parse_servers
    from barnabas.run_proxy import Control, Job, run_proxy
    from proxy.control.reload import ScenarioFile
    from proxy.server import Options
    from proxy.state import Limits

    options = Options(
        parse_servers(bootstrap_server),
        listen=parse_address(listen, zero=True),
        broker_ports=None if broker_ports is None else parse_ports(broker_ports),
        observed=log != Log.off,
        limits=Limits(frame=_size(frame_limit, "--frame-limit")),
    )
    if control is None and control_token_file is not None:
        raise Trouble("--control-token-file is for --control: give both")
    watched = None if scenario is None else ScenarioFile(scenario)  # before it is read
    job = Job(
        options,
        scenario=None if scenario is None else _scenario(scenario),
        scenario_file=watched,
        control=None
        if control is None
        else Control(parse_address(control, zero=True), control_token_file),
        capture=capture,
        capture_limit=None if capture_limit is None else _size(capture_limit, "--capture-limit"),
        log=log.value,
    )
    raise typer.Exit(run_proxy(job))


@app.command(
    "decode",
    epilog="Examples:\n\n  barnabas decode run.pcapng\n\n"
    "  barnabas decode run.pcapng --json | jq .request\n\n"
    "  barnabas decode --request '0003 0001 00000007 0001 61 ffffffff'\n\n"
    "  xxd -p response.bin | barnabas decode --response - --api Fetch --api-version 11",
)
def decode_command(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A capture (pcapng).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines, with the bodies.")] = False,
    frames: Annotated[
        bool, typer.Option("--frames", help="A frame a line, not an exchange.")
    ] = False,
    request: Annotated[
        str | None, typer.Option(metavar="HEX", help="One request in hex; - reads stdin.")
    ] = None,
    response: Annotated[
        str | None, typer.Option(metavar="HEX", help="One response in hex; - reads stdin.")
    ] = None,
    api: Annotated[
        str | None, typer.Option(metavar="NAME", help="The API that the response answers.")
    ] = None,
    api_version: Annotated[int | None, typer.Option(metavar="N", help="Its version.")] = None,
    release: Annotated[
        str | None, typer.Option(metavar="X.Y", help="Kafka's release, where its bytes differ.")
    ] = None,
    draft: Annotated[
        str | None, typer.Option(metavar="NAME", help="Read it as of a draft, e.g. rewrite-a.")
    ] = None,
) -> None:
    """Print a capture as the live log would, or decode one frame."""
    given = [source for source in (file, request, response) if source is not None]
    if len(given) != 1:
        raise Trouble("decode takes one of FILE, --request HEX, --response HEX; see --help")
    if file is not None:
        if (api, api_version, release, draft) != (None, None, None, None):
            raise Trouble(
                "--api, --api-version, --release and --draft are for --request, --response"
            )
        from barnabas.decode import decode

        raise typer.Exit(decode(file, as_json=as_json, frames_only=frames))
    from barnabas.decode_hex import Asked, decode_hex

    if frames:
        raise Trouble("--frames is for a capture file")
    text = request if request is not None else response
    assert text is not None  # noqa: S101
    direction: Literal["request", "response"] = "response" if request is None else "request"
    asked = Asked(text, direction, api, api_version, release, draft, as_json)
    raise typer.Exit(decode_hex(asked))


@scenario_app.command("check")
def scenario_check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Scenario files.")],
) -> None:
    """Say whether scenario files are right; every problem with its line."""
    for file in files:
        found = _scenario(file)
        count = len(found.rules)
        typer.echo(f"{file}: fine, {count} rule{'s' if count != 1 else ''}")


@scenario_app.command("schema")
def scenario_schema_command() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    import json

    from proxy.scenario import scenario_schema

    typer.echo(json.dumps(scenario_schema(), indent=2))


@peers_app.command("list")
def peers_list() -> None:
    """List the kinds of brokers that can be started."""
    from peers import PEERS

    for peer in PEERS:
        typer.echo(f"{peer.name:<10} {peer.what}")


@peers_app.command(
    "start",
    epilog="Examples:\n\n  barnabas peers start embedded\n\n"
    "  barnabas peers start apache:3.9.1 --nodes 3",
)
def peers_start(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="embedded, or apache:VERSION; see `peers list`.")
    ],
    nodes: Annotated[
        int | None,
        typer.Option(
            "--nodes",
            "--brokers",
            "-n",
            min=1,
            max=100,
            help="How many brokers; 3 if embedded, else 1.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Start brokers, print their addresses, and keep them running until Ctrl-C."""
    from barnabas.run_peers import start

    raise typer.Exit(start(kind, nodes))


@app.command("demo")
def demo_command(
    capture: Annotated[
        Path, typer.Option("--capture", "-c", metavar="FILE", help="Where to write the capture.")
    ] = Path("demo.pcapng"),
) -> None:
    """Show what it does: an embedded cluster, real clients, a scenario, a capture."""
    from barnabas.demo import demo

    raise typer.Exit(demo(capture))


def _scenario(path: Path):  # type: ignore[no-untyped-def]
    from proxy.scenario import ScenarioError, load

    try:
        return load(path)
    except ScenarioError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(f"can't read the scenario {path}: {problem.strerror}") from None


def _size(text: str, option: str) -> int:
    from proxy.units import parse_size

    try:
        return parse_size(text)
    except ValueError as problem:
        raise Trouble(f"{option}: {problem}") from None


def main() -> None:
    """The entry point: troubles are one line and an exit code, never a traceback."""
    try:
        app()
    except Trouble as trouble:
        sys.stderr.write(f"barnabas: {trouble}\n")
        sys.exit(trouble.code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(FINE)


if __name__ == "__main__":
    main()
