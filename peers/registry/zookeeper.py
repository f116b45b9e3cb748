"""The registry and the election on a real ZooKeeper, through kazoo (`pip install 'barnabas[zookeeper]'`).

    client = KazooClient("127.0.0.1:2181"); client.start()
    registry, elector = ZooKeeperRegistry(client), ZooKeeperElector(client, "/election")

Calls take a round trip to ZooKeeper; during a loss of the connection they are tried again, for as long
as the client's `connection_retry` says, and then raise kazoo's errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from peers.registry.interface import ABSENT, Entry, Leader

if TYPE_CHECKING:
    from kazoo.client import KazooClient


class ZooKeeperRegistry:
    """Entries are nodes; the nodes above one are made with it, and are entries without data."""

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

        A write whose answer was lost is tried again, and is then False though it was done: who is told
        so reads again, as after anybody else's write.
        """
        from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError

        path, client = self._root + path, self._client
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
        """See `Registry`. Several changes in a row may be told as one."""
        self._client.ensure_path(self._root + path)
        self._client.DataWatch(self._root + path, _but_first(changed))
        self._client.ChildrenWatch(self._root + path, _but_first(changed))


class ZooKeeperElector:
    """One election: ephemeral nodes in sequence, of which the first leads; its number is the term.

    Who stands through a client stands until that client's session ends.
    """

    def __init__(self, client: KazooClient, path: str) -> None:
        self._client = client
        self._path = path
        self._nodes: dict[int, str] = {}
        client.ensure_path(path)

    def enter(self, candidate: int) -> None:
        """See `Elector`. One whose node went with a session stands again, behind the others."""
        client, node = self._client, self._nodes.get(candidate)
        if node is not None and client.retry(client.exists, node):
            return
        data = str(candidate).encode()
        self._nodes[candidate] = client.retry(
            client.create, f"{self._path}/n-", data, ephemeral=True, sequence=True
        )

    def leave(self, candidate: int) -> None:
        """See `Elector`."""
        from kazoo.exceptions import NoNodeError

        node = self._nodes.pop(candidate, None)
        if node is not None:
            try:
                self._client.retry(self._client.delete, node)
            except NoNodeError:
                return  # it went with the session

    def leader(self) -> Leader | None:
        """See `Elector`."""
        from kazoo.exceptions import NoNodeError

        client = self._client
        while True:
            standing = sorted(client.retry(client.get_children, self._path))
            if not standing:
                return None
            try:
                data, _ = client.retry(client.get, f"{self._path}/{standing[0]}")
            except NoNodeError:
                continue  # it has just left
            return Leader(int(data), int(standing[0].rpartition("-")[2]) + 1)

    def watch(self, changed: Callable[[], None]) -> None:
        """See `Elector`; in a thread of kazoo's, and after any change of who stands."""
        self._client.ChildrenWatch(self._path, _but_first(changed))


def _but_first(changed: Callable[[], None]) -> Callable[..., None]:
    """kazoo calls at once with what there is, and then after each change."""
    calls = 0

    def call(*what: object) -> None:
        nonlocal calls
        calls += 1
        if calls > 1:
            changed()

    return call
