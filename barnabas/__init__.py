"""barnabas: a protocol test bench and man-in-the-middle traffic proxy for Apache Kafka."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("barnabas")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"
