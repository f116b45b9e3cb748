"""The JVM of the Java client's programs, through JPype; it starts when this module is imported.

The environment has BARNABAS_JVM (the JVM as a library), CLASSPATH, and optionally BARNABAS_JVM_OPTIONS.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
from typing import Any

from exceptions import FRAMES, add_describer
from lines import in_background

# JPype loads it if it is there, which takes 0.2 s of a processor
sys.modules["numpy"] = None  # type: ignore[assignment]
import jpype  # noqa: E402

_FLAGS = (
    "-Xmx128m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.net.preferIPv4Stack=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
)

jpype.startJVM(
    os.environ["BARNABAS_JVM"],
    *_FLAGS,
    *os.environ.get("BARNABAS_JVM_OPTIONS", "").split(),
    classpath=os.environ["CLASSPATH"].split(os.pathsep),
)

gc.freeze()  # JPype has Python's garbage searched for whenever the JVM's is


@functools.cache
def java(name: str) -> Any:
    """Return a class of Java's library. Raises TypeError if there is none.

    jpype.JPackage would read all names of the JVM first: 0.15 s of a processor.
    """
    return jpype.JClass(f"java.{name}")


@functools.cache
def kafka(name: str) -> Any:
    """Return a class of Kafka's libraries. Raises TypeError if there is none."""
    return jpype.JClass(f"org.apache.kafka.{name}")


def offered(name: str) -> bool:
    """Return whether this release has a class."""
    try:
        kafka(name)
    except TypeError:
        return False
    return True


def _describe(problem: Any) -> dict[str, Any] | None:
    """Describe a Java exception (for a future's, the wrapped exception); None for other exceptions."""
    if not isinstance(problem, jpype.JException):
        return None
    wrapped = "java.util.concurrent.ExecutionException"
    if str(problem.getClass().getName()) == wrapped and problem.getCause() is not None:
        problem = problem.getCause()
    bases, java_class = [], problem.getClass()
    while java_class is not None:
        bases.append(str(java_class.getName()))
        java_class = java_class.getSuperclass()
    frames = [
        f"{frame.getClassName()}.{frame.getMethodName()}" for frame in problem.getStackTrace()
    ]
    return {
        "class": bases[0],
        "bases": bases,
        "message": str(problem.getMessage())[:500],
        "frames": frames[:FRAMES],
    }


add_describer(_describe)


@jpype.JImplements("java.lang.Thread$UncaughtExceptionHandler")
class _Handler:
    """A handler of exceptions that end the client's threads."""

    @jpype.JOverride  # type: ignore[untyped-decorator]
    def uncaughtException(self, thread: Any, problem: Any) -> None:  # noqa: N802 (Java's name)
        """Report the exception with the session of its thread."""
        number = SESSION.get()
        in_background(problem, "thread", -1 if number is None else int(number))


java("lang.Thread").setDefaultUncaughtExceptionHandler(_Handler())

SESSION = java("lang.InheritableThreadLocal")()
"""The number of its session, in each thread of a client and in those that these make."""
