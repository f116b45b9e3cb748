"""Programs to explore, that write histories: the demo's two clients at a round of work.

    python -m barnabas.experiments.explore.clients confluent --topic 'orders-{run}' --records 30
    python -m barnabas.experiments.explore.clients aiokafka --transactions 6 --set enable_idempotence=true

A producer sends records (or transactions of them, each third aborted), then a group reads them and
commits. Where the cluster and the history are they take from the environment that exploration gives
to each run; `--set` adds to the client's settings for its producer.
"""
