"""The options of a proxy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.values.value import Values
from barnabas.captures.writing.masking import Masking
from barnabas.proxy.connection.state import Limits
from barnabas.proxy.edits.edits import explain
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.edits.version_ranges import Offer
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.network.read_buffers import BUFFER, TLS_BUFFER
from barnabas.proxy.network.tls import Tls
from barnabas.specs.codec.budget import BUDGET

COPIES: Final = 4
"""The most copies of a frame in memory: collected, whole, its body, and the changed frame."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a proxy is made from."""

    bootstrap: Sequence[Address]
    listen: Address = ("127.0.0.1", 0)
    broker_ports: range | None = None
    """The ports for brokers; None lets the system choose."""
    observed: bool = True
    """Whether every exchange is handed to `done` (the log); if not, only headers are read."""
    connect_timeout: float = 10.0
    """Seconds to wait for a broker."""
    drain: float = 5.0
    """Seconds that exchanges under way get to finish when the proxy stops."""
    linger: float = 30.0
    """Seconds without a byte from the broker, after its client has gone, until both sides are closed; the
    default is that of clients' request.timeout.ms."""
    tls: Tls = field(default_factory=Tls)
    any_protocol: bool = False
    """Whether other protocols than Kafka's pass unchanged; if not, their connections are closed."""
    offer: Offer = field(default_factory=Offer)
    """The versions that clients are offered."""
    advertise: str | None = None
    """The host that clients are told for all listeners; None: the one that they listen on."""
    masking: Masking = field(default_factory=Masking)
    """What log and capture must not contain."""
    reading: Values = field(default_factory=Values)
    """How rules decode keys and values of records."""
    limits: Limits = field(default_factory=Limits)
    faults: tuple[Fault, ...] = FAULTS
    """The faults that scenarios may name."""

    @property
    def read_size(self) -> int:
        """Return the number of bytes to read at once."""
        return TLS_BUFFER if self.tls.client or self.tls.broker else BUFFER

    def explain(self) -> list[str]:
        """Return a line for each edit without a rule, and for the bound of the memory."""
        frame, queued = self.limits.frame, self.limits.queued
        host = self.advertise
        advertised = f"edit: clients get {host} as the host of all listeners"
        return [
            *explain(self.offer),
            *([] if host is None else [advertised]),
            *self.tls.explain(),
            *self.masking.explain(),
            f"memory: a connection keeps at most {(COPIES * frame + 2 * queued) >> 20} MiB in each "
            f"direction (one frame of {frame >> 20} MiB, up to {COPIES} times while it is read and "
            f"changed; {queued >> 20} MiB that wait, and their bodies); the decoded fields of a message "
            f"and their JSON take at most {2 * BUDGET >> 20} MiB: larger messages are counted, not decoded; "
            f"all connections share a read buffer of {self.read_size >> 10} KiB",
        ]
