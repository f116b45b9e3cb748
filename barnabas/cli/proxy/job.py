"""The proxy that the options of `barnabas proxy` describe.

Its files are read, names are resolved, and TLS contexts are made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

from barnabas.addresses import parse_address
from barnabas.captures.writing.masking import Masking
from barnabas.cli.console.output import Output
from barnabas.cli.plugins.faults import own_faults
from barnabas.cli.proxy.option_conflicts import refuse_circle, refuse_overwriting
from barnabas.cli.proxy.options import CaptureOptions, ControlOptions, Log, LogOptions, ProxyOptions
from barnabas.cli.proxy.tls_contexts import check_name, make_tls
from barnabas.cli.scenarios.scenario_files import read_scenario, scenario_file
from barnabas.cli.traces.options import endpoint_of
from barnabas.proxy.connection.state import Limits
from barnabas.proxy.control.reload import ScenarioFile
from barnabas.proxy.network.options import Options
from barnabas.proxy.scenario.file import Scenario
from barnabas.proxy.topic_names.names import TopicNames


@dataclass(frozen=True, slots=True)
class Job:
    """A proxy, and where its log, its capture and its spans go."""

    options: Options
    scenario: Scenario | None = None
    scenario_file: ScenarioFile | None = None
    """The scenario's file, which is loaded again when it changes."""
    control: ControlOptions = field(default_factory=ControlOptions)
    capture: CaptureOptions = field(default_factory=CaptureOptions)
    log: LogOptions = field(default_factory=LogOptions)
    otlp: str | None = None
    """The collector's URL for spans, which the reader of the live stream sends; None: no spans."""
    output: Output = field(default_factory=Output)
    topics: TopicNames = field(default_factory=TopicNames)
    """Names of topics by id, for rules and for the output's context."""
    workers: int = 1
    """The number of processes that carry traffic."""
    began: Callable[[str], None] = lambda _: None
    """Called with the address for clients, as soon as the proxy listens."""

    @classmethod
    def of(cls, given: ProxyOptions) -> Self:
        """Return the proxy of these options. Raises Trouble."""
        options = _options(given)
        if given.tls.clients.client_tls:
            check_name("--listen", options.listen[0])
            check_name("--advertise", options.advertise or options.listen[0])
        refuse_circle(options.listen, options.bootstrap, options.advertise)
        scenario = None if given.scenario is None else scenario_file(given.scenario)
        config = given.toxiproxy.toxiproxy_config
        refuse_overwriting(
            {
                "--capture": given.capture.capture,
                "--control-token-file": given.control.control_token_file,
            },
            {"--scenario": scenario, "--toxiproxy-config": config, **given.tls.files},
        )
        # watch the file before reading it, so that no change is missed
        watched = None if scenario is None else ScenarioFile(scenario, options.faults)
        topics = TopicNames()  # one map for log, filter and rules
        log = given.log
        return cls(
            options,
            scenario=None if scenario is None else read_scenario(scenario, options.faults),
            scenario_file=watched,
            control=given.control,
            capture=given.capture,
            log=log,
            otlp=None if log.otlp is None else endpoint_of(log.otlp),
            output=log.output(topics),
            topics=topics,
            workers=given.limits.workers,
        )

    @property
    def supervised(self) -> bool:
        """Return whether worker processes carry the traffic.

        With a control port there is one at least, since the port would share the interpreter with the
        traffic.
        """
        return self.workers > 1 or self.control.address is not None


def _options(given: ProxyOptions) -> Options:
    """Return the options of the proxy itself. Raises Trouble."""
    toxiproxy = given.toxiproxy.toxiproxy is not None
    limits = given.limits
    return Options(
        given.bootstrap_server or [],
        listen=parse_address(given.listen, zero=True),
        broker_ports=given.addresses.broker_ports,
        observed=given.log.log != Log.off and given.control.address is not None,
        offer=given.versions.offer(),
        connect_timeout=limits.connect_timeout,
        drain=0 if toxiproxy else limits.drain,
        any_protocol=toxiproxy,
        advertise=given.addresses.advertise,
        tls=make_tls(given.tls),
        masking=Masking.of_payload() if given.no_payload else Masking(),
        limits=Limits(frame=limits.frame_limit),
        faults=own_faults(given.faults),
        reading=given.log.values.read(wait=False),
    )
