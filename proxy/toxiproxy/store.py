"""All proxies of the API, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from barnabas.proxy.edits.topology import Address, Node, same
from barnabas.proxy.network.listeners import Listeners
from barnabas.proxy.network.this_machine import stands_at
from barnabas.proxy.toxiproxy.api_proxy import ApiProxy
from barnabas.proxy.toxiproxy.bodies import Fields, read, take
from barnabas.proxy.toxiproxy.errors import (
    PROXY_EXISTS,
    PROXY_NOT_FOUND,
    ApiError,
    bad_body,
    missing,
)

_FIELDS: Final[Fields] = {"name": str, "listen": str, "upstream": str, "enabled": bool}

New = Callable[[str, str, str], ApiProxy]
"""Makes a proxy with a name, an address to listen on, and an upstream."""


class Store:
    """The proxies of the API. All methods belong to one loop and run one at a time."""

    def __init__(self, new: New) -> None:
        self.proxies: dict[str, ApiProxy] = {}
        self._new = new

    def proxy(self, name: str) -> ApiProxy:
        """Return a proxy by its name.

        Raises:
            ApiError: There is no such proxy.
        """
        if name not in self.proxies:
            raise ApiError(*PROXY_NOT_FOUND)
        return self.proxies[name]

    def elsewhere(self, proxy: ApiProxy, node: Node) -> Address | None:
        """Return the address at which clients find a node through a proxy whose upstream it is.

        Brokers with toxiproxy advertise its proxies, since toxiproxy edits no responses: such an address
        stays unchanged.
        """
        for each in (proxy, *self.proxies.values()):
            if same(each.target, node.upstream) and each.address is not None:
                each.meet(node)
                return each.address
        for each in self.proxies.values():
            if each.address is not None and stands_at(each.address, node.upstream):
                each.meet(node)
                return node.upstream
        return None

    def listeners(self) -> Iterator[Listeners]:
        """Return the listeners of all proxies that have been started."""
        return (each.listeners for each in self.proxies.values() if each.listeners is not None)

    async def create(self, body: bytes) -> ApiProxy:
        """Create a proxy, which listens unless `enabled` is false.

        Raises:
            ApiError: The body is invalid, the name is taken, or the address is unavailable.
        """
        settings = _settings(read(body), enabled=True)
        for field in ("name", "upstream"):
            if not settings[field]:
                raise missing(field)
        if settings["name"] in self.proxies:
            raise ApiError(*PROXY_EXISTS)
        proxy = self._new(settings["name"], settings["listen"], settings["upstream"])
        if settings["enabled"]:
            await proxy.start()
        self.proxies[proxy.name] = proxy
        return proxy

    async def update(self, name: str, body: bytes) -> ApiProxy:
        """Replace a proxy's settings, keeping its name.

        Raises:
            ApiError: The body is invalid, or there is no such proxy.
        """
        proxy = self.proxy(name)
        listen, upstream, enabled = proxy.listen, proxy.upstream, proxy.enabled
        settings = _settings(read(body), listen=listen, upstream=upstream, enabled=enabled)
        await proxy.update(settings["listen"], settings["upstream"], settings["enabled"])
        return proxy

    async def populate(self, body: bytes) -> tuple[list[ApiProxy], ApiError | None]:
        """Create several proxies, replacing those of the same names that differ.

        Returns:
            The proxies up to the first failure, and the failure.
        """
        done: list[ApiProxy] = []
        try:
            for settings in _settings_list(read(body)):
                done.append(await self._put(settings))  # noqa: PERF401 - some may be done
        except ApiError as problem:
            return done, problem
        return done, None

    async def _put(self, settings: dict[str, Any]) -> ApiProxy:
        before = self.proxies.get(settings["name"])
        if before is not None:
            if not await before.differs(settings["listen"], settings["upstream"]):
                return before
            await before.end()
        proxy = self._new(settings["name"], settings["listen"], settings["upstream"])
        if settings["enabled"]:
            await proxy.start()
        self.proxies[proxy.name] = proxy
        return proxy

    async def remove(self, name: str) -> None:
        """Delete a proxy.

        Raises:
            ApiError: There is no such proxy.
        """
        await self.proxy(name).end()
        del self.proxies[name]

    async def reset(self) -> None:
        """Start all proxies and remove their toxics.

        Raises:
            ApiError: An address is unavailable.
        """
        for proxy in list(self.proxies.values()):
            await proxy.start()
            proxy.reset()

    async def end(self) -> None:
        """Stop all proxies for good."""
        for proxy in self.proxies.values():
            await proxy.end()
        self.proxies.clear()


def _settings(value: Any, where: str = "the proxy", **before: Any) -> dict[str, Any]:
    """Return the settings of a proxy that a body gives.

    Raises ApiError.
    """
    settings = {"name": "", "listen": "", "upstream": "", **before}
    take(settings, value, _FIELDS, where)
    return settings


def _settings_list(value: Any) -> list[dict[str, Any]]:
    """Return the settings of each proxy that a body lists.

    Raises ApiError.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise bad_body("the proxies must be an array")
    settings = [_settings(each, f"proxy {n}", enabled=True) for n, each in enumerate(value, 1)]
    for number, proxy in enumerate(settings, 1):
        for field in ("name", "upstream"):
            if not proxy[field]:
                raise missing(f"{field} at proxy {number}")
    return settings
