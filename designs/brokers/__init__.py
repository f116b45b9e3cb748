"""Shared parts of the designs' brokers: logs, a registry on ZooKeeper, processes; see README.md."""
