"""Live brokers: an ephemeral node with the address of each below /brokers/ids, as in 0.8."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from barnabas.designs.brokers.listener import Address

if TYPE_CHECKING:
    from kazoo.client import KazooClient

PATH: Final = "/brokers/ids"

PAUSE: Final = 0.2
"""s between two looks whether an id is free."""


class TakenError(RuntimeError):
    """A live broker has this id."""


class BrokerIds:
    """Live brokers in ZooKeeper. changed: called after each change of `live`, in a thread of kazoo's.

    A registered broker registers again after its session has expired, with the next session.
    """

    def __init__(self, client: KazooClient, root: str, changed: Callable[[], None]) -> None:
        self.live: dict[int, Address] = {}
        self.forgotten = False
        """Another session has found nothing of all this: ZooKeeper has lost its data."""
        self._client = client
        self._path = root + PATH
        self._changed = changed
        self._mine: tuple[str, bytes] | None = None
        self._looking = threading.Lock()
        """Held during requests to ZooKeeper, so that responses are used in order."""
        client.ensure_path(self._path)
        client.ChildrenWatch(self._path, self._update)
        client.add_listener(self._connection)

    def register(self, node: int, address: Address, patience: float) -> None:
        """Register a broker, after up to `patience` seconds if its id is taken. Raises TakenError."""
        from kazoo.exceptions import NodeExistsError

        data = json.dumps({"host": address[0], "port": address[1]}).encode()
        mine, until = (f"{self._path}/{node}", data), time.monotonic() + patience
        while True:
            try:
                self._client.retry(self._client.create, *mine, ephemeral=True)
            except NodeExistsError:
                if time.monotonic() > until:
                    raise TakenError(f"a broker {node} is in ZooKeeper already") from None
                time.sleep(PAUSE)
            else:
                self._mine = mine
                self._update()  # the earlier broker with this id may still be in the last list
                return

    def _update(self, _: object = None) -> None:
        with self._looking:
            self.live = self._read_brokers()
        self._changed()

    def _read_brokers(self) -> dict[int, Address]:
        from kazoo.exceptions import NoNodeError

        live = {}
        for name in self._client.retry(self._client.get_children, self._path):
            with contextlib.suppress(NoNodeError, ValueError, TypeError, KeyError):
                row = json.loads(self._client.retry(self._client.get, f"{self._path}/{name}")[0])
                live[int(name)] = str(row["host"]), int(row["port"])
        return live

    def _connection(self, state: str) -> None:
        """Note the connection's new state, in kazoo's connection thread, which must not wait."""
        from kazoo.protocol.states import KazooState

        if state == KazooState.CONNECTED and self._mine is not None:
            self._client.handler.spawn(self._come_back, self._mine)

    def _come_back(self, mine: tuple[str, bytes]) -> None:
        from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError

        try:
            with contextlib.suppress(NodeExistsError):  # it is there, or by now another one is
                self._client.retry(self._client.create, *mine, ephemeral=True)
            self._update()
        except NoNodeError:
            self.forgotten = True
            self._changed()
        except KazooException:
            pass  # the connection is lost again
