"""The options of `barnabas proxy` by topic: the ten most important ones, and the others in panels.

A new option is one field of a class, and its use in `job.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import typer

from barnabas.addresses import parse_host, parse_ports, parse_servers
from barnabas.cli.console.options import (
    FollowErrors,
    JsonBytes,
    OwnFaults,
    QuietFetches,
    ValueOptions,
)
from barnabas.cli.console.parameters import MAIN, given, written
from barnabas.cli.console.parsing import (
    parse_listen,
    parse_rotation,
    parse_seconds,
    parse_size,
    parse_workers,
)
from barnabas.cli.proxy.tls_options import TlsOptions
from barnabas.cli.traces.options import Otlp
from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.captures.writing.rotation import Rotation
    from barnabas.cli.console.output import Output
    from barnabas.proxy.edits.version_ranges import Offer
    from barnabas.proxy.topic_names.names import TopicNames

Address = tuple[str, int]

KEPT: Final = 10_000
"""The default number of exchanges that the page holds."""


class Log(StrEnum):
    """The formats of the log."""

    pretty = "pretty"
    json = "json"
    off = "off"


@dataclass(frozen=True, kw_only=True)
class CaptureOptions:
    """Options of the capture of all traffic."""

    PANEL: ClassVar = "Capture"

    capture: Annotated[
        Path | None,
        typer.Option(
            "--capture",
            "-c",
            metavar="FILE",
            help="Write all traffic to this capture (pcapng).",
            rich_help_panel=MAIN,
        ),
    ] = None
    rotate: Annotated[
        Any,
        typer.Option(
            metavar="SIZE|TIME[,...]",
            help="Make the capture a folder of segments of this size or age, e.g. 256MiB or 10m.",
            parser=parse_rotation,
        ),
    ] = None
    rotate_keep: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Keep only the latest N closed segments."),
    ] = None
    capture_limit: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE", help="Stop capturing at this size, e.g. 1GiB.", parser=parse_size
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise Trouble for segments without a capture."""
        if self.rotate is None and self.rotate_keep is not None:
            raise Trouble("--rotate-keep needs segments: give --rotate too")
        if self.rotate is not None and self.capture is None:
            raise Trouble("--rotate needs a capture: give --capture FOLDER too")

    @property
    def rotation(self) -> Rotation | None:
        """Return when a segment of the capture ends; None: the capture is one file."""
        return None if self.rotate is None else replace(self.rotate, keep=self.rotate_keep)


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """Options of the log of exchanges and of their spans."""

    PANEL: ClassVar = "Log"

    log: Annotated[
        Log,
        typer.Option(
            help="How exchanges are printed; off decodes no bodies.", rich_help_panel=MAIN
        ),
    ] = Log.pretty
    bodies: JsonBytes = None
    only: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="EXPR",
            help="Print only exchanges for which this JMESPath expression is true.",
            rich_help_panel=MAIN,
        ),
    ] = None
    follow_errors: FollowErrors = False
    quiet_fetches: QuietFetches = None
    log_wait: Annotated[
        bool,
        typer.Option(
            "--log-wait",
            help="Slow traffic down to the log's speed. By default the log skips and counts "
            "exchanges.",
        ),
    ] = False
    otlp: Otlp = None
    values: ValueOptions = field(default_factory=ValueOptions)

    def __post_init__(self) -> None:
        """Raise Trouble for options that change nothing in this format of the log."""
        if not self.followed and self.only is not None:
            raise Trouble("--filter applies to the log: omit --log off")
        if not self.followed and self.follow_errors:
            raise Trouble("--follow-errors applies to the log: omit --log off")
        if not self.followed and self.log_wait:
            raise Trouble("--log-wait applies to the log: omit --log off")
        if self.bodies is not None and self.log is not Log.json:
            raise Trouble("--bodies applies to the JSON log: give --log json, too")
        if self.values.values and self.log is not Log.json:
            raise Trouble("--values applies to the JSON log: give --log json, too")
        if self.quiet_fetches and self.log is not Log.pretty:
            raise Trouble("--quiet-fetches applies to the pretty log: give --log pretty, too")

    @property
    def followed(self) -> bool:
        """Return whether a process reads the exchanges of the live stream."""
        return self.log is not Log.off or self.otlp is not None

    def output(self, topics: TopicNames) -> Output:
        """Return the output of exchanges. Raises Trouble.

        topics: Names of topics by id, for the log and the filter.
        """
        from barnabas.captures.kafka.context import Context
        from barnabas.cli.console.options import blob_of
        from barnabas.cli.console.output import Output

        output = Output(context=Context(topics=topics), blob=blob_of(self.bodies))
        if self.values.shown:
            output.values = self.values.read(wait=False)
        output.select(self.only, errors=self.follow_errors)
        if self.log is Log.pretty:
            output.fold(self.quiet_fetches)
        return output


@dataclass(frozen=True, kw_only=True)
class ControlOptions:
    """Options of the control port and of the page."""

    PANEL: ClassVar = "Control port"

    control: Annotated[
        Address | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Open the control port (loopback) for `barnabas ctl`.",
            parser=parse_listen,
        ),
    ] = None
    web: Annotated[
        Address | None,
        typer.Option(
            metavar="[HOST:PORT]",
            help="Show traffic in the browser, on a page at this address (loopback). Includes the "
            "control port.",
            parser=parse_listen,
            rich_help_panel=MAIN,
        ),
    ] = None
    control_token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the control port's token to this file."),
    ] = None
    web_keep: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1_000_000,
            help="Keep at most this many exchanges on the page, the latest [10000].",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise Trouble for options of a port or a page that is not served."""
        if self.control is not None and self.web is not None:
            raise Trouble(
                "--web includes the control port: omit --control, or give --web HOST:PORT"
            )
        if self.address is None and self.control_token_file is not None:
            raise Trouble("--control-token-file needs --control or --web: give one of them, too")
        if self.web_keep is not None and self.web is None:
            raise Trouble("--web-keep needs --web: give it, too")

    @property
    def address(self) -> Address | None:
        """Return the address of the control port; None: there is none."""
        return self.web or self.control

    @property
    def option(self) -> str:
        """Return the option that has the address."""
        return "--control" if self.web is None else "--web"

    @property
    def page(self) -> int | None:
        """Return the number of exchanges that the page holds; None: there is no page."""
        return None if self.web is None else self.web_keep or KEPT


@dataclass(frozen=True, kw_only=True)
class VersionOptions:
    """Options for the API versions that clients are offered."""

    PANEL: ClassVar = "Versions"

    max_version: Annotated[
        list[str],
        typer.Option(
            metavar="API=N[,...]",
            help="Offer clients no newer version of an API, e.g. Fetch=11.",
        ),
    ] = field(default_factory=list)
    pretend: Annotated[
        str | None,
        typer.Option(
            metavar="X.Y",
            help="Offer clients the versions of this release of Kafka, e.g. 2.8.",
        ),
    ] = None
    unstable: Annotated[
        bool,
        typer.Option(
            "--unstable",
            help="Also offer unstable versions: those that are final in no release.",
        ),
    ] = False

    def offer(self) -> Offer:
        """Return the offered versions. Raises Trouble."""
        from barnabas.cli.console.parsing import parse_offer

        return parse_offer(self.pretend, self.max_version, self.unstable)


@dataclass(frozen=True, kw_only=True)
class AddressOptions:
    """Options for the proxy's advertised listeners."""

    PANEL: ClassVar = "Addresses"

    advertise: Annotated[
        str | None,
        typer.Option(
            metavar="HOST",
            help="The host to advertise to clients, e.g. the container host's.",
            parser=partial(parse_host, option="--advertise"),
        ),
    ] = None
    broker_ports: Annotated[
        range | None,
        typer.Option(
            metavar="FIRST-LAST",
            help="Ports of the brokers' listeners: FIRST + node id if that is free, else the last "
            "free port. Ports that brokers on this machine advertise are not used.",
            parser=parse_ports,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Limits and timeouts of a proxy."""

    PANEL: ClassVar = "Limits"

    workers: Annotated[
        int,
        typer.Option(
            metavar="N|auto",
            help="Processes that share the connections; auto: one per core.",
            parser=parse_workers,
        ),
    ] = written(parse_workers, "1")
    frame_limit: Annotated[
        int,
        typer.Option(
            metavar="SIZE",
            help="The largest frame; a larger one closes its connection.",
            parser=parse_size,
        ),
    ] = written(parse_size, "100MiB")
    connect_timeout: Annotated[
        float,
        typer.Option(
            metavar="TIME",
            help="Timeout for connecting to a broker; the client's connection is then closed.",
            parser=parse_seconds,
        ),
    ] = written(parse_seconds, "10s")
    drain: Annotated[
        float,
        typer.Option(
            metavar="TIME",
            help="How long requests in flight may take to finish when the proxy stops.",
            parser=parse_seconds,
        ),
    ] = written(parse_seconds, "5s")


@dataclass(frozen=True, kw_only=True)
class ToxiproxyOptions:
    """Options for serving toxiproxy's API."""

    PANEL: ClassVar = "Toxiproxy"

    toxiproxy: Annotated[
        Address | None,
        typer.Option(
            metavar="[HOST:PORT]",
            help="Serve toxiproxy's HTTP API, whose clients create proxies [127.0.0.1:8474].",
            parser=parse_listen,
        ),
    ] = None
    toxiproxy_config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Create the proxies in this file at the start, like toxiproxy-server -config.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise Trouble for a configuration without toxiproxy's API."""
        if self.toxiproxy is None and self.toxiproxy_config is not None:
            raise Trouble("--toxiproxy-config needs --toxiproxy: give it, too")


DECRYPTED: Final = (
    "--scenario",
    "--capture",
    "--control",
    "--web",
    "--otlp",
    "--no-payload",
    "--advertise",
    "--broker-ports",
    "--workers",
    "--toxiproxy",
    "--schemas",
)
"""Options that need decrypted traffic; all options of TLS do, too."""


@dataclass(frozen=True, kw_only=True)
class ProxyOptions:
    """All options of `barnabas proxy`."""

    bootstrap_server: Annotated[
        Sequence[Address] | None,
        typer.Option(
            "--bootstrap-server",
            "-b",
            metavar="HOST:PORT[,...]",
            help="The brokers to start from.",
            parser=parse_servers,
        ),
    ] = None
    listen: Annotated[
        str,
        typer.Option(
            "--listen", "-l", metavar="HOST:PORT", help="Where clients connect; port 0 picks one."
        ),
    ] = "127.0.0.1:19092"
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario",
            "-s",
            metavar="FILE",
            help="Rules to apply: a file, or one of `barnabas scenario list`.",
        ),
    ] = None
    capture: CaptureOptions = field(default_factory=CaptureOptions)
    log: LogOptions = field(default_factory=LogOptions)
    no_payload: Annotated[
        bool,
        typer.Option(
            "--no-payload", help="Keep record keys, values and headers out of log and capture."
        ),
    ] = False
    tls: TlsOptions = field(default_factory=TlsOptions)
    tls_passthrough: Annotated[
        bool,
        typer.Option(
            "--tls-passthrough",
            help="Forward TLS as it is, without decrypting it; needs a --listen address for each broker.",
            rich_help_panel="TLS to the clients",
        ),
    ] = False
    control: ControlOptions = field(default_factory=ControlOptions)
    versions: VersionOptions = field(default_factory=VersionOptions)
    addresses: AddressOptions = field(default_factory=AddressOptions)
    limits: LimitOptions = field(default_factory=LimitOptions)
    faults: OwnFaults = None
    toxiproxy: ToxiproxyOptions = field(default_factory=ToxiproxyOptions)

    def __post_init__(self) -> None:
        """Raise Trouble for options that contradict each other."""
        toxiproxy = self.toxiproxy.toxiproxy is not None
        if self.bootstrap_server is None and (not toxiproxy or self.tls_passthrough):
            raise Trouble(
                "no bootstrap server: give --bootstrap-server HOST:PORT, e.g. localhost:9092"
            )
        if self.tls_passthrough:
            unread = (*given(self.tls), *DECRYPTED)
            self._refuse(unread, "--tls-passthrough: TLS is not decrypted there")
        if not toxiproxy:
            return
        steered = "--toxiproxy: its HTTP API controls the proxies"
        self._refuse(("--control", "--web", "--workers"), steered)
        self._refuse(("--no-payload",), "--toxiproxy: only Kafka payloads can be masked")
        servers = self.bootstrap_server or ()
        if len(servers) > 1:
            raise Trouble(
                "--toxiproxy has one upstream per proxy: give one --bootstrap-server, or none"
            )
        if servers and self.toxiproxy.toxiproxy_config is not None:
            raise Trouble("--toxiproxy-config names the upstreams: omit --bootstrap-server")

    def _refuse(self, options: Collection[str], beside: str) -> None:
        """Raise Trouble if one of these options is given."""
        for option in given(self):
            if option in options:
                raise Trouble(f"{option} does not work with {beside}")
