"""The command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from barnabas import __version__
from barnabas.ctl import ctl_app
from barnabas.explore_command import EXPLORE_EXAMPLES, explore_command
from barnabas.proxy_command import PROXY_EXAMPLES, proxy_command, read_scenario, scenario_file
from barnabas.replay_command import REPLAY_EXAMPLES, replay_command
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
    no_args_is_help=True, help="Ready scenarios; check your own; their language."
)
peers_app = typer.Typer(no_args_is_help=True, help="Start brokers to stand behind the proxy.")
app.add_typer(scenario_app, name="scenario")
app.add_typer(spec_app, name="spec")
app.add_typer(peers_app, name="peers")
app.add_typer(ctl_app, name="ctl")


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
        from barnabas.until_eof import stop_at_eof

        stop_at_eof()


app.command("proxy", epilog=PROXY_EXAMPLES)(proxy_command)
app.command("explore", epilog=EXPLORE_EXAMPLES)(explore_command)
app.command("replay", epilog=REPLAY_EXAMPLES)(replay_command)


@app.command(
    "decode",
    epilog="Examples:\n\n  barnabas decode run.pcapng\n\n"
    "  barnabas decode run.pcapng --json | jq .request\n\n"
    "  barnabas decode run.pcapng --filter \"api == 'Produce' && latency_ms > 100\"\n\n"
    "  barnabas decode --request '0003 0001 00000007 0001 61 ffffffff'\n\n"
    "  xxd -p response.bin | barnabas decode --response - --api Fetch --api-version 11",
)
def decode_command(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A capture (pcapng).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines, with the bodies.")] = False,
    frames: Annotated[
        bool, typer.Option("--frames", help="A frame a line, not an exchange.")
    ] = False,
    only: Annotated[
        str | None,
        typer.Option("--filter", metavar="EXPR", help="Exchanges that meet it (JMESPath)."),
    ] = None,
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

        raise typer.Exit(decode(file, as_json=as_json, frames_only=frames, only=only))
    from barnabas.decode_hex import Asked, decode_hex

    if frames:
        raise Trouble("--frames is for a capture file")
    if only is not None:
        raise Trouble("--filter is for a capture file")
    text = request if request is not None else response
    assert text is not None  # noqa: S101
    direction: Literal["request", "response"] = "response" if request is None else "request"
    asked = Asked(text, direction, api, api_version, release, draft, as_json)
    raise typer.Exit(decode_hex(asked))


@app.command(
    "summary",
    epilog="Examples:\n\n  barnabas summary run.pcapng\n\n"
    "  barnabas summary run.pcapng --by client --by topic\n\n"
    "  barnabas summary run.pcapng --filter \"api == 'Fetch'\" --by broker --json",
)
def summary_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A capture (pcapng).")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT", help="api, client, connection, broker or topic; all if absent."
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--filter", metavar="EXPR", help="Only exchanges that meet it (JMESPath)."),
    ] = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="Rows of each table.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One document, with all rows.")] = False,
) -> None:
    """Say what a capture comes to: counts, errors, latencies, versions, client software."""
    from barnabas.summary import summary

    raise typer.Exit(summary(file, tuple(by or ()), only=only, most=most, as_json=as_json))


@app.command(
    "serve",
    epilog="Examples:\n\n  barnabas serve run.pcapng --listen 127.0.0.1:9092\n\n"
    "  barnabas serve run.pcapng --speed 0   # at once, not after the time that brokers took",
)
def serve_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A capture (pcapng).")],
    listen: Annotated[
        str,
        typer.Option(
            "--listen", "-l", metavar="HOST:PORT", help="Where clients begin; port 0 picks one."
        ),
    ] = "127.0.0.1:19092",
    speed: Annotated[
        float, typer.Option(metavar="N", min=0, help="2 answers twice as fast; 0 at once.")
    ] = 1.0,
) -> None:
    """Answer clients as the recorded brokers did; say what was asked and never recorded (exit code 1)."""
    from barnabas.addresses import parse_address
    from barnabas.serve import serve

    raise typer.Exit(serve(file, parse_address(listen, zero=True), speed))


@app.command(
    "grep",
    epilog="Examples:\n\n  barnabas grep order-4711 run.pcapng\n\n"
    "  barnabas grep -i 'not_(leader|coordinator)' *.pcapng\n\n"
    "  barnabas grep -F '{\"id\": 1}' run.pcapng --json | jq .found\n\n"
    "Exit code 0 if it was found, 1 if not, as grep's.",
)
def grep_command(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="A regular expression.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Captures (pcapng).")],
    any_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="In any case.")] = False,
    fixed: Annotated[
        bool, typer.Option("--fixed-strings", "-F", help="PATTERN as it is, no expression.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines, with the bodies.")] = False,
) -> None:
    """Find a text in captures: in names, ids, errors, record keys and values, whatever hides them."""
    from barnabas.grep import grep

    raise typer.Exit(grep(pattern, files, any_case=any_case, fixed=fixed, as_json=as_json))


@app.command(
    "diff",
    epilog="Examples:\n\n  barnabas diff before.pcapng after.pcapng\n\n"
    "  barnabas diff a.pcapng b.pcapng --ignore offset --ignore brokers.rack\n\n"
    "  barnabas diff a.pcapng b.pcapng --filter \"api == 'Produce'\" --json",
)
def diff_command(
    left: Annotated[Path, typer.Argument(metavar="A", help="A capture (pcapng).")],
    right: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Leave it out: a name, or a.b; globs. May be repeated."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--everything", help="Also what differs in each run: times, ids, addresses."),
    ] = False,
    only: Annotated[
        str | None,
        typer.Option("--filter", metavar="EXPR", help="Only exchanges that meet it (JMESPath)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines.")] = False,
) -> None:
    """Compare two captures exchange by exchange; exit code 1 if anything differs."""
    from barnabas.diff import diff

    ignored = tuple(ignore or ())
    raise typer.Exit(
        diff(left, right, ignore=ignored, everything=everything, only=only, as_json=as_json)
    )


Faults = Annotated[
    str | None,
    typer.Option("--faults", metavar="MODULE:TUPLE", help="Faults of your own beside ours."),
]


@app.command(
    "rehearse",
    epilog="Examples:\n\n  barnabas rehearse slow.yaml run.pcapng\n\n"
    "  barnabas rehearse run.pcapng --check",
)
def rehearse_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[SCENARIO] CAPTURE", help="Without SCENARIO: that which the capture recorded."
        ),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Compare with what the capture says was decided.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines.")] = False,
    faults: Faults = None,
) -> None:
    """Run a scenario over a capture, without a network: which rule does what to which message."""
    from barnabas.own_faults import own_faults
    from barnabas.rehearse import rehearse

    if len(files) > 2:
        raise Trouble("rehearse takes a scenario and a capture, or a capture alone; see --help")
    known = own_faults(faults)
    scenario = read_scenario(files[0], known) if len(files) == 2 else None
    raise typer.Exit(rehearse(scenario, files[-1], as_json=as_json, check=check, faults=known))


@scenario_app.command("check")
def scenario_check(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Scenario files, or names.")
    ],
    faults: Faults = None,
) -> None:
    """Say whether scenario files are right; every problem with its line."""
    from barnabas.own_faults import own_faults
    from proxy.remarks import remarks

    known = own_faults(faults)
    for file in files:
        found = read_scenario(file, known)
        for line in remarks(found):
            typer.echo(f"{file}: {line}", err=True)
        count = len(found.rules)
        typer.echo(f"{file}: fine, {count} rule{'s' if count != 1 else ''}")


@scenario_app.command("list")
def scenario_list(
    as_json: Annotated[
        bool, typer.Option("--json", help="A line of JSON for each, with all that it says.")
    ] = False,
) -> None:
    """List the ready scenarios: --scenario takes them by name."""
    from barnabas.scenarios import listing

    listing(as_json=as_json)


@scenario_app.command(
    "show", epilog="Example:\n\n  barnabas scenario show commit-after-join > mine.yaml"
)
def scenario_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="See `barnabas scenario list`.")],
) -> None:
    """Print a ready scenario, to read or to change."""
    path = scenario_file(Path(name))
    typer.echo(path.read_text(), nl=False)


@scenario_app.command("schema")
def scenario_schema_command() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    import json

    from proxy.scenario import scenario_schema

    typer.echo(json.dumps(scenario_schema(), indent=2))


@peers_app.command("list")
def peers_list(
    as_json: Annotated[
        bool, typer.Option("--json", help="A line of JSON for each that can be started.")
    ] = False,
) -> None:
    """List the kinds of brokers that can be started, and the versions that were seen working."""
    import json

    from barnabas.run_peers import kinds, startable

    for line in map(json.dumps, startable()) if as_json else kinds():
        typer.echo(line)


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
