"""Files with a URL scheme, such as s3a://bucket/run.pcapng, by Hadoop's file systems.

Spark's JVM has Hadoop's client, and is configured by `spark.hadoop.*`. Input files are copied to this machine
first. Output is copied under a temporary name, and renamed when it is complete.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def scheme_of(text: str) -> str | None:
    """Return the scheme of a URL, or None for a path of this machine.

    >>> scheme_of("s3a://bucket/run.pcapng"), scheme_of("captures/run.pcapng")
    ('s3a', None)
    """
    matched = _SCHEME.match(text)
    return matched and matched[1]


class HadoopFiles:
    """The file systems that a session's JVM supports. All methods raise OSError, in one line."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._configuration = context._jsc.hadoopConfiguration()
        self._jvm = context._jvm

    def matching(self, url: str) -> list[str]:
        """Return the files that a pattern matches, or that are in matching folders, by name."""
        with self._system(url) as (system, path):
            paths = []
            for status in system.globStatus(path) or ():
                inner = system.listStatus(status.getPath()) if status.isDirectory() else [status]
                paths += [entry.getPath().toString() for entry in inner if entry.isFile()]
            return sorted(paths)

    def exists(self, url: str) -> bool:
        """Return whether the URL exists."""
        with self._system(url) as (system, path):
            return bool(system.exists(path))

    def head(self, url: str, count: int) -> bytes:
        """Return the first bytes of a file."""
        with self._system(url) as (system, path), closing(system.open(path)) as stream:
            return bytes(stream.readNBytes(count))

    def fetch(self, url: str, to: Path) -> None:
        """Copy a file to this machine."""
        with self._system(url) as (system, path):
            system.copyToLocalFile(False, path, self._path(to), True)

    def put(self, folder: Path, url: str) -> None:
        """Copy a folder of this machine to a URL that does not exist yet.

        Names that begin with _ are left out. The folder gets its name when it is complete.
        """
        with self._system(url) as (system, path):
            hadoop = self._jvm.org.apache.hadoop.fs
            configuration = self._configuration
            local = hadoop.FileSystem.getLocal(configuration)
            part = hadoop.Path(path.getParent(), f"_{uuid.uuid4().hex}")
            try:
                system.mkdirs(part)
                for entry in sorted(folder.iterdir()):
                    if not entry.name.startswith("_"):
                        # as a stream: S3A's own copy of a local file did not end with moto's S3 server
                        hadoop.FileUtil.copy(
                            local, self._path(entry), system, part, False, True, configuration
                        )
                if not system.rename(part, path):
                    raise OSError(0, "can't be renamed to that", url)
            except BaseException:
                system.delete(part, True)
                raise

    @contextmanager
    def _system(self, url: str) -> Iterator[tuple[Any, Any]]:
        """Yield the file system of a URL, and its path there."""
        with _troubles(url):
            path = self._jvm.org.apache.hadoop.fs.Path(url)
            yield path.getFileSystem(self._configuration), path

    def _path(self, local_path: Path) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(local_path.resolve().as_uri())


@contextmanager
def _troubles(url: str) -> Iterator[None]:
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as problem:
        java: Any = problem.java_exception
        lines = str(java.getMessage() or java.getClass().getName()).splitlines()
        message = " ".join(lines[0].split())
        if (
            "UnsupportedFileSystemException" in java.getClass().getName()
            or "ClassNotFound" in message
        ):
            message = (
                f"Spark has no file system for {scheme_of(url)}: give it the jars by --conf "
                "spark.jars.packages=, and what they need by --conf spark.hadoop."
            )
        raise OSError(0, message, url) from None
