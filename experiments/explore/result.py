"""The result of a run."""

from __future__ import annotations

from barnabas.experiments.explore.finding import Finding
from barnabas.proxy.matching.settings import Settings


class Result(Settings):
    """The result of a run with one fault, or (k = 0) of the recording without any."""

    k: int = 0
    api: str = ""
    client: str = ""
    """Client id, as a glob."""
    cut: str = "none: the recording"
    """The fault's name."""
    scenario: str = ""
    """Name of the file that does it again; empty for the recording."""
    run: str
    """The run's token."""
    reached: bool = True
    """Whether the fault was done; if not, the run is inconclusive."""
    trouble: str = ""
    """The reason why a fault could not be done to a matching message."""
    may_end: bool = False
    """Whether the program may end with a failure: the fault is an error that it has to handle."""
    exit_code: int | None
    """The program's exit code; None: killed after the time limit."""
    seconds: float
    """The duration of the run."""
    last_line: str = ""
    """The last line of a failed program's output."""
    recovery_ms: float | None = None
    """See `barnabas.experiments.explore.bench.recovery_ms`."""
    history: bool
    """Whether the program wrote one."""
    findings: tuple[Finding, ...] = ()
    repeated: int = 0
    """The number of repetitions of a failing run, and ..."""
    reproduced: int = 0
    """... the number of these runs with all of its findings."""

    @property
    def failed(self) -> bool:
        """Return whether the program failed without permission, or there are findings."""
        return bool(self.kinds)

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of findings, with `failed` for a program that should not have failed."""
        failed = () if self.exit_code == 0 or self._ended_properly else ("failed",)
        return frozenset((*failed, *(finding.kind for finding in self.findings)))

    @property
    def _ended_properly(self) -> bool:
        """Return whether the program ended itself with a failure, and may do so."""
        return self.may_end and self.exit_code is not None and self.exit_code > 0

    @property
    def outcome(self) -> str:
        """Return the outcome in a word or two."""
        if self.exit_code is None:
            return f"still running after {self.seconds:.0f} s"
        if self.exit_code < 0:
            return f"killed by signal {-self.exit_code}"
        if self.exit_code:
            return f"exit code {self.exit_code}"
        if self.findings:
            return "findings"
        if not self.reached:
            return "not reached"
        return "fine"

    @property
    def details(self) -> str:
        """Return the findings in a line."""
        parts = [f"{finding.kind}: {finding.text}" for finding in self.findings]
        if self.exit_code != 0 and self.last_line:
            parts.append(self.last_line)
        if self._ended_properly:
            parts.append("a program may end after this error")
        if not self.reached:
            parts.append(
                f"inconclusive: {self.trouble}"
                if self.trouble
                else "inconclusive: the exchange did not occur"
            )
        return "; ".join(parts)
