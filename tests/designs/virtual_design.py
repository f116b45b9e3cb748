"""What a virtual network of a design has to say: links, applications, and what its peers do on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from barnabas.designs.brokers.listener import Send


@dataclass
class Link:
    """A connection of a consumer to a broker."""

    number: int
    consumer: str
    broker: int
    open_here: bool = True
    open_there: bool = False
    latest: dict[str, int] = field(default_factory=lambda: {"here": 0, "there": 0})
    """When what was last sent arrives at the consumer (here) and at the broker (there)."""
    lossy: bool = False
    """Whatever is sent from now on does not arrive, and nobody hears of it."""


@dataclass
class Application(ABC):
    """What stands around a consumer."""

    core: Any
    polls: bool = True
    dead: bool = False
    link: Any = None
    inbox: list[Callable[[], list[Any]]] = field(default_factory=list)
    """What the network has for it, as long as it does not poll."""

    @abstractmethod
    def halt(self) -> None:
        """It fetches nothing from now on."""


App = TypeVar("App", bound=Application)
AnyLink = TypeVar("AnyLink", bound=Link)


class Design(ABC, Generic[App, AnyLink]):
    """What differs from design to design."""

    make_link: Callable[[int, str, int], AnyLink]

    @abstractmethod
    def elect(self) -> None:
        """All that live hear who leads."""

    @abstractmethod
    def add(self, name: str, **options: object) -> App:
        """Start a consumer."""

    @abstractmethod
    def settled(self) -> bool:
        """Whether the consumers that live own each partition once."""

    @abstractmethod
    def summary(self) -> str:
        """For messages of failed assertions."""

    @abstractmethod
    def _poll(self, name: str) -> None:
        """A consumer does what is due."""

    @abstractmethod
    def _sends(self, node: int, action: Send, link: AnyLink | None) -> None:
        """A broker sends something on a connection, or on one that is gone."""

    @abstractmethod
    def _asks(self, node: int, action: Any) -> bool:
        """A broker asks something of its registry; whether it goes on."""

    @abstractmethod
    def _does(self, name: str, application: App, action: Any) -> None:
        """A consumer starts or stops to fetch, or has failed."""

    @abstractmethod
    def _arrives(self, link: AnyLink, data: bytes) -> None:
        """A broker gets something from a consumer."""

    def _died(self, node: int) -> None:
        """A broker is dead; its connections are still there."""

    def _postpones(self, node: int, action: Any) -> bool:
        """Whether an action of a broker waits for one before."""
        return False

    def _reached(self, application: App) -> None:
        """The network has something for a consumer."""
