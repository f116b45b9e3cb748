"""barnabas: a protocol test bench and man-in-the-middle traffic proxy for Apache Kafka."""


def __getattr__(name: str) -> str:
    """`__version__`, read when it is asked for: what reads it is slow to load, and all begins here."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from barnabas.version import version

    return version()
