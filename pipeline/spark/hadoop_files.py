"""Files that are named by a scheme, such as s3a://bucket/run.pcapng: Hadoop's file systems have them.

Spark's JVM brings Hadoop's client, and is configured for it by `spark.hadoop.*`. What is read is copied to
this machine first; what was written here is put there under another name, and renamed when it is whole.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def scheme_of(text: str) -> str | None:
    """That of a URL; None: it is a path of this machine.

    >>> scheme_of("s3a://bucket/run.pcapng"), scheme_of("captures/run.pcapng")
    ('s3a', None)
    """
    found = _SCHEME.match(text)
    return found and found[1]


class HadoopFiles:
    """The file systems that a session's JVM knows. All methods raise OSError, in one line."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self._configuration = context._jsc.hadoopConfiguration()
        self._jvm = context._jvm

    def matching(self, url: str) -> list[str]:
        """The files that a pattern matches, or that are in the folders that it does, by their names."""
        with _troubles(url):
            system, path = self._system(url)
            found = []
            for status in system.globStatus(path) or ():
                inner = system.listStatus(status.getPath()) if status.isDirectory() else [status]
                found += [one.getPath().toString() for one in inner if one.isFile()]
            return sorted(found)

    def exists(self, url: str) -> bool:
        """Whether there is something."""
        with _troubles(url):
            system, path = self._system(url)
            return bool(system.exists(path))

    def head(self, url: str, count: int) -> bytes:
        """The first bytes of a file."""
        with _troubles(url):
            system, path = self._system(url)
            stream = system.open(path)
            try:
                return bytes(stream.readNBytes(count))
            finally:
                stream.close()

    def fetch(self, url: str, to: Path) -> None:
        """Copy a file to this machine."""
        with _troubles(url):
            system, path = self._system(url)
            system.copyToLocalFile(False, path, self._path(to), True)

    def put(self, folder: Path, url: str) -> None:
        """Copy a folder of this machine there, but for what is called _ something: there is none of that name
        yet. It gets its name when all of it is there."""
        with _troubles(url):
            system, path = self._system(url)
            hadoop = self._jvm.org.apache.hadoop.fs
            known = self._configuration
            here = hadoop.FileSystem.getLocal(known)
            part = hadoop.Path(path.getParent(), f"_{uuid.uuid4().hex}")
            try:
                system.mkdirs(part)
                for one in sorted(folder.iterdir()):
                    if not one.name.startswith("_"):
                        # as a stream: S3A's own copy of a local file did not end with moto's S3 server
                        hadoop.FileUtil.copy(
                            here, self._path(one), system, part, False, True, known
                        )
                renamed = system.rename(part, path)
            except BaseException:
                system.delete(part, True)
                raise
            if not renamed:
                system.delete(part, True)
                raise OSError(0, "can't be renamed to that", url)

    def _system(self, url: str) -> tuple[Any, Any]:
        path = self._jvm.org.apache.hadoop.fs.Path(url)
        return path.getFileSystem(self._configuration), path

    def _path(self, here: Path) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(here.resolve().as_uri())


@contextmanager
def _troubles(url: str) -> Iterator[None]:
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as problem:
        java: Any = problem.java_exception
        lines = str(java.getMessage() or java.getClass().getName()).splitlines()
        said = " ".join(lines[0].split())
        if "UnsupportedFileSystemException" in java.getClass().getName() or "ClassNotFound" in said:
            said = (
                f"Spark has no file system for {scheme_of(url)}: give it the jars by --conf "
                "spark.jars.packages=, and what they need by --conf spark.hadoop."
            )
        raise OSError(0, said, url) from None
