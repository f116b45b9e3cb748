"""The kinds of brokers that barnabas itself can start, as commands take them in place of addresses."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from barnabas.trouble import COULD_NOT_RUN, Trouble

KINDS: Final = ("embedded", "apache", "kfake", "librdkafka")

STARTABLE: Final = ", ".join(f"{kind}:VERSION" if kind == "apache" else kind for kind in KINDS)
"""The kinds as help texts list them."""

LIBRDKAFKA: Final = "librdkafka"
"""The kind of librdkafka's mock, which `embedded` is where kfake is unavailable."""

OFFERS: Final[Mapping[str, Sequence[str]]] = MappingProxyType({LIBRDKAFKA: ("ApiVersions=2",)})
"""Kind -> what a proxy in front of it offers at most, as `--max-version` takes it.

librdkafka's mock refuses newer ApiVersions requests, but not in the layout of v0 as KIP-511 has it. Java 3.9
and 4.3, franz-go 1.22 and Sarama can't read that, and never connect.
"""


def is_kind(text: str) -> bool:
    """Return whether a text names a kind of brokers and not addresses.

    >>> is_kind("apache:4.3.1"), is_kind("kafka:9092")
    (True, False)
    """
    return text.partition(":")[0] in KINDS


def check_hosts(hosts: Sequence[str]) -> None:
    """Raise Trouble if no host of a cluster has an address: it may be a misspelt kind."""
    for host in hosts:
        try:
            socket.getaddrinfo(host.strip("[]"), None)
        except (OSError, UnicodeError):
            continue
        return
    names = ", ".join(hosts)
    raise Trouble(
        f"{names}: no such host, and no kind of brokers ({', '.join(KINDS)})", COULD_NOT_RUN
    )
