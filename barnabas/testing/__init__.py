"""For people's own tests: a proxy in a process of its own, and assertions on what passed it.

The fixtures are in `barnabas.pytest_plugin`. What runs in the user's process imports `barnabas`, the
standard library and third parties only: `proxy` or `specs` may be folders of the user's own project.
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
