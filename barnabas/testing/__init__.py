"""For people's own tests: a proxy in a process of its own, and assertions on what passed it.

The fixtures are in `barnabas.pytest_plugin`. The proxy has a process of its own because a test may block
its thread or its loop while traffic goes on, and because it starts anew for each test, so that its
decisions are reproducible. The user's process imports this package, the standard library and third parties
only; names of APIs, errors and columns are checked by the proxy's control port. But for `seen`, where tests
that were made of a capture ask a cluster themselves.

`--until-eof` ends the process when the pipe to its stdin is closed, whatever becomes of pytest. Its JSON
log is a file, complete and bounded by the disk; the control port says how many exchanges are over, so
`exchanges()` knows which line to wait for, and that nothing is missing.
"""

from barnabas.testing.exchange import Exchange
from barnabas.testing.kafka_proxy import Incomplete, KafkaProxy, NotSeen, start_proxy
from barnabas.testing.process import Ended
from barnabas.testing.retries import Retry
from barnabas.testing.scenario import Rule, Scenario, WrongScenario
from barnabas.testing.sequences import DuplicateSequence

__all__ = (
    "DuplicateSequence",
    "Ended",
    "Exchange",
    "Incomplete",
    "KafkaProxy",
    "NotSeen",
    "Retry",
    "Rule",
    "Scenario",
    "WrongScenario",
    "start_proxy",
)
