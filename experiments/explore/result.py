"""What came of one run."""

from __future__ import annotations

from barnabas.experiments.explore.finding import Finding
from barnabas.proxy.matching.settings import Settings


class Result(Settings):
    """A run with one fault, or (k = 0) the recording without any."""

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
    """Whether the fault was done; if not, the run says nothing about it."""
    trouble: str = ""
    """Why it could not be done to a message that it met."""
    exit_code: int | None
    """Of the program; None: its time was up."""
    seconds: float
    """How long it ran."""
    last_line: str = ""
    """What it printed last, if it failed."""
    recovery_ms: float | None = None
    """See `barnabas.experiments.explore.recovery`."""
    history: bool
    """Whether the program wrote one."""
    findings: tuple[Finding, ...] = ()
    repeated: int = 0
    """How often it was run again because it failed, and ..."""
    reproduced: int = 0
    """... in how many of these runs all of it was found again."""

    @property
    def failed(self) -> bool:
        """Whether anything was found: the program's failure is such a thing."""
        return self.exit_code != 0 or bool(self.findings)

    @property
    def kinds(self) -> frozenset[str]:
        """What was found, in a word each; that the program failed is one of them."""
        failed = ("failed",) if self.exit_code != 0 else ()
        return frozenset((*failed, *(found.kind for found in self.findings)))

    @property
    def outcome(self) -> str:
        """In a word or two."""
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
        """What was found, in a line."""
        said = [f"{found.kind}: {found.text}" for found in self.findings]
        if self.exit_code != 0 and self.last_line:
            said.append(self.last_line)
        if not self.reached:
            said.append(
                f"inconclusive: {self.trouble}"
                if self.trouble
                else "inconclusive: the exchange did not occur"
            )
        return "; ".join(said)
