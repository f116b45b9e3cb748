"""What coordinators agree on outside of themselves: what is written down, topics, who leads."""

from barnabas.peers.registry.interface import Elector, Entry, Leader, Rank, Registry
from barnabas.peers.registry.memory import MemoryElector, MemoryRegistry

__all__ = ["Elector", "Entry", "Leader", "MemoryElector", "MemoryRegistry", "Rank", "Registry"]
