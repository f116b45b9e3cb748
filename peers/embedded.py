"""librdkafka's mock brokers, which come inside the confluent-kafka wheel: `embedded` without kfake.

They listen on real TCP ports on loopback in this process; the system assigns the ports. A topic is created on
first use, with 4 partitions; CreateTopics is not supported. When a group with members rebalances, JoinGroup
is answered after the session timeout less 1 s, even if all members have joined long before: with
`session.timeout.ms` of 1200 that is 0.2 s.

The C functions are called directly (rdkafka_mock.h; librdkafka calls them experimental, and wheels since 2.8
have all of them). The setting `test.mock.num.brokers` would do without, but it can't configure partitions or
the delay of joins, 3 s, and logs to the terminal.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Mapping
from typing import Final, Self

AUTO_PARTITIONS: Final = 4
"""Partitions of a topic that the cluster makes by itself."""

_PRODUCER: Final = 0
_P, _S, _I = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int

_FUNCTIONS: Final = (
    ("rd_kafka_conf_new", _P, ()),
    ("rd_kafka_conf_set_log_cb", None, (_P, _P)),
    ("rd_kafka_new", _P, (_I, _P, _P, ctypes.c_size_t)),
    ("rd_kafka_destroy", None, (_P,)),
    ("rd_kafka_err2str", _S, (_I,)),
    ("rd_kafka_mock_cluster_new", _P, (_P, _I)),
    ("rd_kafka_mock_cluster_destroy", None, (_P,)),
    ("rd_kafka_mock_cluster_bootstraps", _S, (_P,)),
    ("rd_kafka_mock_topic_create", _I, (_P, _S, _I, _I)),
    ("rd_kafka_mock_group_initial_rebalance_delay_ms", None, (_P, ctypes.c_int32)),
)
"""(name, result type, argument types)."""


class UnavailableError(RuntimeError):
    """The confluent-kafka wheel, which brings the mock cluster, is missing or too old."""


class EmbeddedCluster:
    """A cluster of librdkafka's mock brokers, running from `with` to its end; node ids start at 1.

    Args:
        brokers: number of brokers.
        topics: topics to create, with their numbers of partitions. Raises ValueError for an invalid one.
        join_delay_ms: time that a new group waits for more members.

    Raises:
        UnavailableError: At the start: confluent-kafka is missing or too old.
    """

    def __init__(
        self,
        brokers: int = 3,
        *,
        topics: Mapping[str, int] | None = None,
        join_delay_ms: int = 100,
    ) -> None:
        if brokers < 1:
            raise ValueError(f"a cluster of {brokers} brokers")
        for name, partitions in (topics or {}).items():
            if partitions < 1:
                raise ValueError(f"topic {name!r} with {partitions} partitions")
        self._count = brokers
        self._topics = dict(topics or {})
        self._join_delay_ms = join_delay_ms
        self._running = contextlib.ExitStack()
        self.bootstrap = ""
        """The addresses as clients take them: `127.0.0.1:p1,127.0.0.1:p2`; empty until started."""
        self.brokers: dict[int, tuple[str, int]] = {}
        """Node id -> (host, port)."""

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self._start(stack)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()

    def ended(self) -> str | None:
        """Return None: the brokers run in this process."""
        return None

    def _start(self, stack: contextlib.ExitStack) -> None:
        library = _library()
        configuration = library.rd_kafka_conf_new()
        library.rd_kafka_conf_set_log_cb(configuration, None)
        reason = ctypes.create_string_buffer(512)
        handle = library.rd_kafka_new(_PRODUCER, configuration, reason, len(reason))
        if not handle:
            raise UnavailableError(f"librdkafka does not start: {reason.value.decode()}")
        stack.callback(library.rd_kafka_destroy, handle)
        cluster = library.rd_kafka_mock_cluster_new(handle, self._count)
        if not cluster:
            raise UnavailableError("librdkafka could not open its mock brokers' ports")
        stack.callback(library.rd_kafka_mock_cluster_destroy, cluster)
        library.rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, self._join_delay_ms)
        for name, partitions in self._topics.items():
            wrong = library.rd_kafka_mock_topic_create(
                cluster, name.encode(), partitions, min(3, self._count)
            )
            if wrong:
                text = library.rd_kafka_err2str(wrong).decode()
                raise ValueError(f"topic {name!r} with {partitions} partitions: {text}")
        self.bootstrap = library.rd_kafka_mock_cluster_bootstraps(cluster).decode()
        addresses = (address.rsplit(":", 1) for address in self.bootstrap.split(","))
        self.brokers = {
            node: (host, int(port)) for node, (host, port) in enumerate(addresses, start=1)
        }


@functools.cache
def _library() -> ctypes.CDLL:
    """Return librdkafka from the confluent-kafka wheel, through the module that links to it."""
    try:
        from confluent_kafka import cimpl
    except ImportError as problem:
        raise UnavailableError(
            f"librdkafka's mock needs confluent-kafka: install barnabas with the extra 'peers' ({problem})"
        ) from None
    library = ctypes.CDLL(cimpl.__file__)
    for name, returns, takes in _FUNCTIONS:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise UnavailableError(
                f"this confluent-kafka brings no {name}: install 2.8 or newer"
            ) from None
        function.restype, function.argtypes = returns, takes
    return library
