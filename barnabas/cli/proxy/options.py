"""The options of `barnabas proxy`: ten that matter, the rest by topic."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Log(StrEnum):
    """How exchanges are printed."""

    pretty = "pretty"
    json = "json"
    off = "off"


Brokers = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server", "-b", metavar="HOST:PORT[,...]", help="The brokers to start from."
    ),
]

Listen = Annotated[
    str,
    typer.Option(
        "--listen", "-l", metavar="HOST:PORT", help="Where clients connect; port 0 picks one."
    ),
]

Scenario = Annotated[
    Path | None,
    typer.Option(
        "--scenario",
        "-s",
        metavar="FILE",
        help="Rules to apply: a file, or one of `barnabas scenario list`.",
    ),
]

Capture = Annotated[
    Path | None,
    typer.Option(
        "--capture", "-c", metavar="FILE", help="Write all traffic to this capture (pcapng)."
    ),
]

LogStyle = Annotated[Log, typer.Option(help="How exchanges are printed; off decodes no bodies.")]

Filter = Annotated[
    str | None,
    typer.Option(
        "--filter", metavar="EXPR", help="Print only exchanges for which it holds (JMESPath)."
    ),
]

Workers = Annotated[
    str,
    typer.Option(
        metavar="N|auto",
        help="Processes that share the connections; auto: one a core.",
        rich_help_panel="Limits",
    ),
]

LogWait = Annotated[
    bool,
    typer.Option(
        "--log-wait",
        help="Slow traffic down to what the log can print; by default it skips and counts exchanges.",
        rich_help_panel="Limits",
    ),
]

NoPayload = Annotated[
    bool,
    typer.Option(
        "--no-payload", help="Keep record keys, values and headers out of log and capture."
    ),
]

ClientTls = Annotated[
    bool,
    typer.Option(
        "--client-tls", help="TLS to clients, with certificates of a CA made on first use."
    ),
]

Web = Annotated[
    str | None,
    typer.Option(
        metavar="[HOST:PORT]",
        help="Show traffic on a page for the browser (loopback); it has the control port, too.",
    ),
]

WebKeep = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=1_000_000,
        help="Exchanges that the page holds at most; of more, the last ones [10000].",
        rich_help_panel="Control port",
    ),
]

ControlPort = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Open the control port (loopback) for `barnabas ctl`.",
        rich_help_panel="Control port",
    ),
]

Toxiproxy = Annotated[
    str | None,
    typer.Option(
        metavar="[HOST:PORT]",
        help="Serve toxiproxy's HTTP API, whose clients make proxies [127.0.0.1:8474].",
        rich_help_panel="Toxiproxy",
    ),
]

ToxiproxyConfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Begin with the proxies of this file, as toxiproxy-server -config does.",
        rich_help_panel="Toxiproxy",
    ),
]

Rotate = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE|TIME[,...]",
        help="Make the capture a folder of segments of this size or age, e.g. 256MiB or 10m.",
        rich_help_panel="Capture",
    ),
]

RotateKeep = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Keep only the latest N closed segments.",
        rich_help_panel="Capture",
    ),
]

CaptureLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Stop capturing at this size, e.g. 1GiB.",
        rich_help_panel="Capture",
    ),
]

MaxVersion = Annotated[
    list[str] | None,
    typer.Option(
        metavar="API=N[,...]",
        help="Offer clients no newer version of an API, e.g. Fetch=11.",
        rich_help_panel="Versions",
    ),
]

Pretend = Annotated[
    str | None,
    typer.Option(
        metavar="X.Y",
        help="Offer clients the versions of this release of Kafka, e.g. 2.8.",
        rich_help_panel="Versions",
    ),
]

Unstable = Annotated[
    bool,
    typer.Option(
        "--unstable",
        help="Offer unstable versions, too: those that no release has made final.",
        rich_help_panel="Versions",
    ),
]

Advertise = Annotated[
    str | None,
    typer.Option(
        metavar="HOST",
        help="The host to advertise to clients, e.g. the container host's.",
        rich_help_panel="Addresses",
    ),
]

BrokerPorts = Annotated[
    str | None,
    typer.Option(
        metavar="FIRST-LAST",
        help="Ports of the brokers' listeners: FIRST + node id if that is free, else the last free one. A "
        "broker's own port on this machine is left to it.",
        rich_help_panel="Addresses",
    ),
]

FrameLimit = Annotated[
    str,
    typer.Option(
        metavar="SIZE",
        help="The largest frame; a larger one closes its connection.",
        rich_help_panel="Limits",
    ),
]

ConnectTimeout = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="How long connecting to a broker may take; then its client's connection is closed.",
        rich_help_panel="Limits",
    ),
]

Drain = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="How long requests in flight may take to finish when the proxy stops.",
        rich_help_panel="Limits",
    ),
]

BrokerCert = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The proxy's certificate for brokers that require one (mutual TLS).",
        rich_help_panel="TLS to the brokers",
    ),
]

BrokerKey = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="The key of --broker-cert.", rich_help_panel="TLS to the brokers"
    ),
]

BrokerServerName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The name to expect in the brokers' certificates, if it is not the host.",
        rich_help_panel="TLS to the brokers",
    ),
]

BrokerInsecure = Annotated[
    bool,
    typer.Option(
        "--broker-insecure",
        help="TLS to the brokers without checking their certificates.",
        rich_help_panel="TLS to the brokers",
    ),
]

ClientCert = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="TLS to clients with this certificate (PEM).",
        rich_help_panel="TLS to the clients",
    ),
]

ClientKey = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="The key of --client-cert.", rich_help_panel="TLS to the clients"
    ),
]

ClientCa = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Require clients to have a certificate of this CA (mutual TLS).",
        rich_help_panel="TLS to the clients",
    ),
]

TlsPassthrough = Annotated[
    bool,
    typer.Option(
        "--tls-passthrough",
        help="Forward TLS as it is, without decrypting it; needs a --listen address for each broker.",
        rich_help_panel="TLS to the clients",
    ),
]

ControlTokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the control port's token to this file.",
        rich_help_panel="Control port",
    ),
]
