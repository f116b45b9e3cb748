"""A Kafka proxy for users' own tests, and assertions on the exchanges that passed it.

The fixtures are in `barnabas.pytest_plugin`. Each proxy runs in its own process, because a test may block its
thread or its loop while traffic goes on, and because a fresh process makes the decisions of rules
reproducible. The test's process imports only this package, the standard library and third-party packages: the
proxy's control port validates names of APIs, errors and columns. The exceptions are `seen`, with which tests
made from a capture send requests to a cluster, and `conformance`, the checks of a broker as tests.

`--until-eof` ends the process when the pipe to its stdin is closed, whatever happens to pytest. Its JSON log
is a file, complete and limited only by the disk. The control port reports how many exchanges are over, so
that `exchanges()` knows which line to wait for, and that none is missing.
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
