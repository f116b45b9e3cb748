"""barnabas: a protocol test bench and man-in-the-middle traffic proxy for Apache Kafka."""


def __getattr__(name: str) -> str:
    """Return `__version__`, which is read on first use because its sources load slowly."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from barnabas.version import version

    return version()
