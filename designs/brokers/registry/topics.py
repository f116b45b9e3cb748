"""Topics and their partitions in a registry: an entry each, below /brokers/topics, as brokers keep them.

    topics = Topics(registry, changed)
    topics.read()               # {"t": ("0", "1")}; from now on `changed` is called after each change
    topics.grow("t", "2")

What partitions are called is the caller's: names, in the order in which they were added. Topics and
partitions stay: nothing here takes one away.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from barnabas.designs.brokers.registry.interface import ABSENT, Registry
from barnabas.designs.brokers.registry.paths import below, name_of

PATH = "/brokers/topics"


def path_of(topic: str) -> str:
    """Where a topic's entry stands.

    >>> path_of("a/b")
    '/brokers/topics/a%2Fb'
    """
    return below(PATH, topic)


class Topics:
    """The topics of a registry, and a listener for changes of them.

    changed: called after each new topic and each change of a topic's partitions, once there was a first
    `read`; perhaps in another thread. Who hears it reads again: that is also how a new topic gets its own
    watch, so a change that came before the watch is in what is read.
    """

    def __init__(self, registry: Registry, changed: Callable[[], None] = lambda: None) -> None:
        self._registry = registry
        self._changed = changed
        self._watched: set[str] = set()

    def read(self) -> dict[str, tuple[str, ...]]:
        """All topics with their partitions. Not for several threads at once.

        Raises ValueError for an entry that is none of a topic, and the registry's errors.
        """
        self._watch(PATH)
        found = {}
        for name in self._registry.children(PATH):
            topic = name_of(name)
            self._watch(path_of(topic))
            found[topic], _ = self._partitions(topic)
        return found

    def grow(self, topic: str, *partitions: str) -> None:
        """A topic, new or not, has these partitions, too. Raises as `read` does.

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
        """Names, and the version of the entry that has them."""
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
