"""All proxies of the API, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from barnabas.proxy.edits.topology import Address, Node, same
from barnabas.proxy.network.listeners import Listeners
from barnabas.proxy.network.this_machine import stands_at
from barnabas.proxy.toxiproxy.bodies import Fields, read, take
from barnabas.proxy.toxiproxy.errors import (
    PROXY_EXISTS,
    PROXY_NOT_FOUND,
    ApiError,
    bad_body,
    missing,
)
from barnabas.proxy.toxiproxy.proxied import Proxied

_FIELDS: Final[Fields] = {"name": str, "listen": str, "upstream": str, "enabled": bool}

New = Callable[[str, str, str], Proxied]
"""A proxy of a name, that is to listen there, and whose upstream is there."""


class Store:
    """The proxies. All methods are for one loop, one at a time."""

    def __init__(self, new: New) -> None:
        self.proxies: dict[str, Proxied] = {}
        self._new = new

    def proxy(self, name: str) -> Proxied:
        """One of them. Raises ApiError."""
        if name not in self.proxies:
            raise ApiError(*PROXY_NOT_FOUND)
        return self.proxies[name]

    def elsewhere(self, own: Proxied, node: Node) -> Address | None:
        """Where clients find a node through a proxy: through this one if it is its upstream.

        Brokers behind toxiproxy advertise its proxies, since it edits nothing: that address stands as it is.
        """
        for each in (own, *self.proxies.values()):
            if same(each.target, node.upstream) and each.address is not None:
                each.meet(node)
                return each.address
        for each in self.proxies.values():
            if each.address is not None and stands_at(each.address, node.upstream):
                each.meet(node)
                return node.upstream
        return None

    def listeners(self) -> Iterator[Listeners]:
        """Return the listeners of all that have listened."""
        return (each.listeners for each in self.proxies.values() if each.listeners is not None)

    async def create(self, body: bytes) -> Proxied:
        """Another one, which listens unless told otherwise. Raises ApiError."""
        given = _given(read(body), enabled=True)
        for field in ("name", "upstream"):
            if not given[field]:
                raise missing(field)
        if given["name"] in self.proxies:
            raise ApiError(*PROXY_EXISTS)
        proxy = self._new(given["name"], given["listen"], given["upstream"])
        if given["enabled"]:
            await proxy.start()
        self.proxies[proxy.name] = proxy
        return proxy

    async def update(self, name: str, body: bytes) -> Proxied:
        """One of them is as given, but for its name. Raises ApiError."""
        proxy = self.proxy(name)
        listen, upstream, enabled = proxy.listen, proxy.upstream, proxy.enabled
        given = _given(read(body), listen=listen, upstream=upstream, enabled=enabled)
        await proxy.update(given["listen"], given["upstream"], given["enabled"])
        return proxy

    async def populate(self, body: bytes) -> tuple[list[Proxied], ApiError | None]:
        """Several, in place of those of the same names that differ; up to the first that can't be."""
        done: list[Proxied] = []
        try:
            for given in _several(read(body)):
                done.append(await self._put(given))  # noqa: PERF401 - some may be done
        except ApiError as problem:
            return done, problem
        return done, None

    async def _put(self, given: dict[str, Any]) -> Proxied:
        before = self.proxies.get(given["name"])
        if before is not None:
            if not await before.differs(given["listen"], given["upstream"]):
                return before
            await before.end()
        proxy = self._new(given["name"], given["listen"], given["upstream"])
        if given["enabled"]:
            await proxy.start()
        self.proxies[proxy.name] = proxy
        return proxy

    async def remove(self, name: str) -> None:
        """One of them less. Raises ApiError."""
        await self.proxy(name).end()
        del self.proxies[name]

    async def reset(self) -> None:
        """All listen, and have no toxics. Raises ApiError."""
        for proxy in list(self.proxies.values()):
            await proxy.start()
            proxy.reset()

    async def end(self) -> None:
        """None is left."""
        for proxy in self.proxies.values():
            await proxy.end()
        self.proxies.clear()


def _given(value: Any, where: str = "the proxy", **before: Any) -> dict[str, Any]:
    """Return the settings of a proxy that a body gives. Raises ApiError."""
    given = {"name": "", "listen": "", "upstream": "", **before}
    take(given, value, _FIELDS, where)
    return given


def _several(value: Any) -> list[dict[str, Any]]:
    """Return the settings of each proxy that a body lists. Raises ApiError."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise bad_body("the proxies must be an array")
    found = [_given(each, f"proxy {n}", enabled=True) for n, each in enumerate(value, 1)]
    for place, given in enumerate(found, 1):
        for field in ("name", "upstream"):
            if not given[field]:
                raise missing(f"{field} at proxy {place}")
    return found
