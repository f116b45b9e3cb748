"""Shared state of coordinators: entries, topics and elections."""

from barnabas.designs.brokers.registry.interface import Elector, Entry, Leader, Rank, Registry
from barnabas.designs.brokers.registry.memory import MemoryElector, MemoryRegistry

__all__ = ["Elector", "Entry", "Leader", "MemoryElector", "MemoryRegistry", "Rank", "Registry"]
