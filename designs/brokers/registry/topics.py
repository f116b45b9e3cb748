"""Topics and their partitions in a registry: an entry for each below /brokers/topics, as brokers have them.

    topics = Topics(registry, changed)
    topics.read()               # {"t": ("0", "1")}; from now on `changed` is called after each change
    topics.grow("t", "2")

The caller chooses the partitions' names, whose order is that of their creation. Topics and partitions are
never removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from barnabas.designs.brokers.registry.interface import ABSENT, Registry
from barnabas.designs.brokers.registry.paths import below, name_of

PATH = "/brokers/topics"


def path_of(topic: str) -> str:
    """Return the path of a topic's entry.

    >>> path_of("a/b")
    '/brokers/topics/a%2Fb'
    """
    return below(PATH, topic)


class Topics:
    """The topics of a registry, and a listener for their changes.

    changed: called after each new topic and each change of a topic's partitions, once there was a first
    `read`; perhaps in another thread. It should read again, which also watches new topics, so that no change
    is missed.
    """

    def __init__(self, registry: Registry, changed: Callable[[], None] = lambda: None) -> None:
        self._registry = registry
        self._changed = changed
        self._watched: set[str] = set()

    def read(self) -> dict[str, tuple[str, ...]]:
        """Return all topics with their partitions. Not thread-safe.

        Raises ValueError for an entry that is not a topic's, and the registry's errors.
        """
        self._watch(PATH)
        topics = {}
        for name in self._registry.children(PATH):
            topic = name_of(name)
            self._watch(path_of(topic))
            topics[topic], _ = self._partitions(topic)
        return topics

    def grow(self, topic: str, *partitions: str) -> None:
        """Create a topic, or add partitions to it. Raises as `read` does.

        >>> from barnabas.designs.brokers.registry import MemoryRegistry
        >>> topics = Topics(MemoryRegistry())
        >>> topics.grow("t", "0"); topics.grow("t", "0", "1"); topics.read()
        {'t': ('0', '1')}
        """
        while True:
            before, version = self._partitions(topic)
            names = dict.fromkeys((*before, *partitions))
            if self._registry.write(path_of(topic), json.dumps([*names]).encode(), version):
                return

    def _watch(self, path: str) -> None:
        if path not in self._watched:
            self._registry.watch(path, self._changed)
            self._watched.add(path)

    def _partitions(self, topic: str) -> tuple[tuple[str, ...], int]:
        """Return the names of the partitions, and the version of their entry."""
        entry = self._registry.read(path_of(topic))
        if entry is None:
            return (), ABSENT
        try:
            names = json.loads(entry.data)
        except ValueError:
            names = None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"no partitions: {entry.data[:40]!r} at {path_of(topic)}")
        return tuple(names), entry.version
