"""What can go wrong with Spark before anything is read; each message says what to do."""

from __future__ import annotations


class UnavailableError(RuntimeError):
    """Java, pyspark, the cluster or what its workers need is missing or does not answer."""
