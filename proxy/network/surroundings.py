"""What a proxy shares with its process, and where its traffic and its reports go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.proxy.connection.shared_state import Ordinal
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import FindProxy, Topology
from barnabas.proxy.network.own_addresses import Listening
from barnabas.proxy.network.relay import Layer, no_layer
from barnabas.proxy.topic_names.names import TopicNames

if TYPE_CHECKING:
    from barnabas.captures.live.writer import RingWriter
    from barnabas.captures.writing.writer import CaptureWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The receivers of a proxy's traffic and reports."""

    capture: CaptureWriter | None = None
    """A capture of all traffic; it is closed with the proxy."""
    streams: Sequence[RingWriter | CaptureWriter] = ()
    """Other writers of all traffic."""
    done: Callable[[Exchange], None] = lambda _: None
    """Receives each exchange that is over, while exchanges are observed."""
    say: Callable[[str], None] = lambda _: None
    """Receives lines for the person who runs the proxy."""
    changed: Callable[[int], None] = lambda _: None
    """Receives the number of connections that are open or about to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The objects that a proxy shares with other proxies; None if it has its own."""

    topics: TopicNames | None = None
    """The names of topics by id, shared with the log."""
    totals: Totals | None = None
    tally: ApiStats | None = None
    topology: Topology | None = None
    """The topology of the process that listens, if that is another one: see `Proxy.begin`."""
    ordinal: Ordinal | None = None
    """Returns ordinals of connections from the process that listens, if that is another one."""
    elsewhere: FindProxy = lambda _: None
    """Returns the proxy that already leads to a node, see `Topology`."""
    neighbours: Callable[[], Iterable[Listening]] = tuple
    """Returns the listeners of the other proxies of this process, if they are no brokers' addresses
    either."""
    layer: Layer = no_layer
    """Returns the layer between an endpoint and its socket."""


NO_OUTPUTS: Final = Outputs()
ALONE: Final = Surroundings()
