"""`barnabas spec`: its commands and their options; each imports its modules when it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from barnabas.cli.console.help import examples
from barnabas.cli.console.options import JsonArray
from barnabas.cli.console.parameters import takes
from barnabas.trouble import Trouble

spec_app = typer.Typer(no_args_is_help=True, help="Look up the protocol: APIs, layouts, errors.")


@spec_app.command("list", epilog=examples("barnabas spec list", "barnabas spec list group --json"))
def list_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Only APIs whose name contains this.")
    ] = "",
    as_json: JsonArray = False,
    dialects: Annotated[
        bool,
        typer.Option(
            "--dialects", "--drafts", help="List the dialects: protocols other than Kafka's."
        ),
    ] = False,
) -> int:
    """List the APIs: key, versions, first flexible version, purpose."""
    from barnabas.cli.specs import dialects as printing
    from barnabas.cli.specs import listing

    return printing.list_dialects(as_json=as_json) if dialects else listing.list_apis(name, as_json)


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """All options of `barnabas spec show`."""

    name: Annotated[str, typer.Argument(metavar="API", help="Name (in any case) or key of an API.")]
    version: Annotated[
        int | None,
        typer.Option("--version", "-v", metavar="N", help="One version; default: all."),
    ] = None
    request: Annotated[bool, typer.Option("--request", help="The request only.")] = False
    response: Annotated[bool, typer.Option("--response", help="The response only.")] = False
    release: Annotated[
        str | None,
        typer.Option(metavar="X.Y", help="Layout of this Kafka release, where releases differ."),
    ] = None
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            "--draft",
            metavar="NAME",
            help="Layout of this dialect, see `spec list --dialects`.",
        ),
    ] = None
    source: Annotated[
        bool, typer.Option("--source", help="Print the generated Python that reads and writes it.")
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False

    @property
    def which(self) -> Literal["request", "response"] | None:
        """Return the message to show; None: both."""
        if self.request == self.response:
            return None
        return "request" if self.request else "response"


@spec_app.command(
    "show",
    epilog=examples(
        "barnabas spec show Fetch",
        "barnabas spec show Fetch --version 11",
        "barnabas spec show Fetch --version 12 --request --source",
        "barnabas spec show EndQuorumEpoch --version 0 --release 2.7 --request",
    ),
)
@takes(ShowOptions)
def show_command(options: ShowOptions) -> int:
    """Show an API: a version as in Kafka's protocol guide, or the history of all."""
    from barnabas.cli.specs import dialects, show

    problems = []
    try:
        if options.dialect is None:
            show.known(options.name, options.version, options.release)
        else:
            dialects.known(options.dialect, options.name)
    except Trouble as problem:
        problems.append(str(problem))
    of_one = options.source or options.release is not None
    if of_one and options.version is None and options.dialect is None:
        option = "--source" if options.source else "--release"
        problems.append(f"{option} needs --version: give it, too")
    if options.source and (options.dialect is not None or options.as_json):
        problems.append(
            f"--source does not work with {'--json' if options.as_json else '--dialect'}"
        )
    if problems:
        raise Trouble("; ".join(problems))
    if options.dialect is not None:
        return dialects.show(options.dialect, options.name, options.which, as_json=options.as_json)
    if options.source and options.version is not None:
        return show.source(options.name, options.version, options.which, options.release)
    return show.show(options.name, options.version, options.which, options.release, options.as_json)


@spec_app.command(
    "errors",
    epilog=examples(
        "barnabas spec errors", "barnabas spec errors 27", "barnabas spec errors coordinator --json"
    ),
    context_settings={"ignore_unknown_options": True},  # -1 is a code
)
def errors_command(
    code_or_name: Annotated[
        str, typer.Argument(metavar="CODE|NAME", help="Error code, or part of its name.")
    ] = "",
    as_json: JsonArray = False,
) -> int:
    """List the error codes and whether clients try again."""
    from barnabas.cli.specs import listing

    return listing.errors(code_or_name, as_json)


@spec_app.command(
    "wireshark",
    epilog=examples(
        "barnabas spec wireshark > kafka.lua",
        "barnabas spec wireshark > ~/.local/lib/wireshark/plugins/kafka.lua",
        "tshark -X lua_script:kafka.lua -r FILE -Y 'bkafka.topic == \"orders\"'",
    ),
)
def wireshark_command() -> None:
    """Print a Wireshark dissector in Lua of every API in every version."""
    from barnabas.specs.wireshark import script

    print(script(), end="")


@spec_app.command(
    "corpus",
    epilog=examples(
        "barnabas spec corpus --out corpus",
        "barnabas spec corpus --out fetch --api Fetch --versions 12+ --format jsonl",
        "mkdir -p testdata && cp -r corpus/go testdata/fuzz",
    ),
)
def corpus_command(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="A new or empty folder.")],
    apis: Annotated[
        list[str] | None,
        typer.Option(
            "--api", metavar="API", help="Name or key of an API; repeatable; default: all."
        ),
    ] = None,
    versions: Annotated[
        str | None,
        typer.Option(metavar="N|N-M|N+", help="Versions of each API; default: all."),
    ] = None,
    file_format: Annotated[
        Literal["files", "jsonl"],
        typer.Option("--format", help="A file for each frame, or lines of JSON."),
    ] = "files",
    seed: Annotated[int, typer.Option(metavar="N", help="Equal seeds give equal frames.")] = 1,
) -> int:
    """Write golden frames: valid ones with their values, malformed ones with how Kafka reads them.

    For any client, broker or parser. The folder also has seeds for libFuzzer and for Go's fuzzer.
    """
    from barnabas.cli.specs import corpus

    return corpus.write(out, apis or (), versions, file_format, seed)
