"""The registry and the election on a real ZooKeeper, through kazoo (extra `zookeeper`).

    client = KazooClient("127.0.0.1:2181"); client.start()
    registry, elector = ZooKeeperRegistry(client), ZooKeeperElector(client, "/election")

Calls take a round trip to ZooKeeper. Without a connection they are retried as the client's `connection_retry`
configures it, and then raise kazoo's errors.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.designs.brokers.registry.interface import (
    ABSENT,
    Entry,
    Leader,
    Rank,
    bounded,
    no_rank,
)

if TYPE_CHECKING:
    from kazoo.client import KazooClient


class ZooKeeperRegistry:
    """Entries as nodes. Nodes above an entry are created with it, as entries without data."""

    def __init__(self, client: KazooClient, root: str = "") -> None:
        self._client = client
        self._root = root

    def read(self, path: str) -> Entry | None:
        """See `Registry`."""
        from kazoo.exceptions import NoNodeError

        try:
            data, stat = self._client.retry(self._client.get, self._root + path)
        except NoNodeError:
            return None
        return Entry(data, stat.version)

    def write(self, path: str, data: bytes, version: int) -> bool:
        """See `Registry`.

        A write whose response was lost is retried, and then returns False though it was done: the caller
        reads again, as after another writer's change.
        """
        from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError

        path, client, data = self._root + path, self._client, bounded(path, data)
        try:
            if version == ABSENT:
                client.retry(client.create, path, data, makepath=True)
            else:
                client.retry(client.set, path, data, version=version)
        except (BadVersionError, NodeExistsError, NoNodeError):
            return False
        return True

    def children(self, path: str) -> list[str]:
        """See `Registry`."""
        from kazoo.exceptions import NoNodeError

        try:
            return sorted(self._client.retry(self._client.get_children, self._root + path))
        except NoNodeError:
            return []

    def watch(self, path: str, changed: Callable[[], None]) -> None:
        """See `Registry`. Successive changes may cause one call."""
        self._client.ensure_path(self._root + path)
        self._client.DataWatch(self._root + path, _but_first(changed))
        self._client.ChildrenWatch(self._root + path, _but_first(changed))


class ZooKeeperElector:
    """An election: ephemeral sequential nodes, `CANDIDATE-NUMBER`; the term is the version of their parent.

    A candidate stands until its client's session ends. From a lost connection (SUSPENDED) on there is no
    leader in this process: ZooKeeper may end the session before its client knows, and a new leader must not
    coexist with an acting old one. A client notices a lost connection within two thirds of the session. With
    the next connection the leader is read again, and a candidate whose node ended with its session (LOST)
    stands again, after the others.
    """

    def __init__(self, client: KazooClient, path: str, rank: Rank = no_rank) -> None:
        self._client = client
        self._path = path
        self._rank = rank
        self._nodes: dict[int, str] = {}
        self._asking = threading.RLock()
        """Held during requests to ZooKeeper, so that responses are used in order."""
        self._lock = threading.Lock()
        """Held for moments only: kazoo's connection thread takes it."""
        self._leader: Leader | None = None
        self._leading = ""
        """The leader's node."""
        self._losses = 0
        """Lost connections: responses from before a loss are ignored."""
        self._watches: list[Callable[[], None]] = []
        client.ensure_path(path)
        client.add_listener(self._connection)
        client.ChildrenWatch(path, self._update)

    def enter(self, candidate: int) -> None:
        """See `Elector`. A candidate whose node ended with a session stands again, after the others."""
        with self._asking:
            self._stand(candidate)
            self._update()

    def leave(self, candidate: int) -> None:
        """See `Elector`."""
        from kazoo.exceptions import NoNodeError

        with self._asking:
            node = self._nodes.pop(candidate, None)
            if node is not None:
                with contextlib.suppress(NoNodeError):  # it went with the session
                    self._client.retry(self._client.delete, node)
            self._update()

    def leader(self) -> Leader | None:
        """See `Elector`."""
        return self._leader

    def watch(self, changed: Callable[[], None]) -> None:
        """See `Elector`; in a thread of kazoo's, or of the caller of `enter` or `leave`."""
        self._watches.append(changed)

    def _stand(self, candidate: int) -> None:
        client, node = self._client, self._nodes.get(candidate)
        if node is not None and client.retry(client.exists, node):
            return
        self._nodes[candidate] = client.retry(
            client.create, f"{self._path}/{candidate}-", ephemeral=True, sequence=True
        )

    def _update(self, _: object = None) -> None:
        """Read the leader from ZooKeeper."""
        with self._asking:
            losses = self._losses
            leader = self._read_leader()
            with self._lock:
                if losses != self._losses or leader == self._leader:
                    return
                self._leader = leader
        self._tell()

    def _read_leader(self) -> Leader | None:
        standing, parent = self._client.retry(
            self._client.get_children, self._path, include_data=True
        )
        first = min(standing, key=self._order, default="")
        if first == self._leading and self._leader is not None:
            return self._leader
        self._leading = first
        return Leader(int(first.partition("-")[0]), parent.cversion) if first else None

    def _order(self, node: str) -> tuple[float, int]:
        candidate, _, number = node.partition("-")
        return self._rank(int(candidate)), int(number)

    def _connection(self, state: str) -> None:
        """Note the connection's new state, in kazoo's connection thread, which must not wait."""
        from kazoo.protocol.states import KazooState

        if state == KazooState.CONNECTED:
            self._client.handler.spawn(self._come_back)
            return
        with self._lock:
            self._losses += 1
            led, self._leader = self._leader, None
        if led is not None:
            self._tell()

    def _come_back(self) -> None:
        from kazoo.exceptions import KazooException

        # a failure means that the connection is lost again: the next one leads back here
        with contextlib.suppress(KazooException), self._asking:
            for candidate in tuple(self._nodes):
                self._stand(candidate)
            self._update()

    def _tell(self) -> None:
        for call in tuple(self._watches):
            call()


def _but_first(changed: Callable[[], None]) -> Callable[..., None]:
    """Ignore the first call of a watch, which kazoo makes at once with the present state."""
    calls = 0

    def call(*event: object) -> None:
        nonlocal calls
        calls += 1
        if calls > 1:
            changed()

    return call
