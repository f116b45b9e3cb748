"""`barnabas fuzz`: malformed frames for brokers, clients and decoders.

`run.py` runs a campaign: `campaigns.py` reads its file, `progress.py` prints its progress, `shrinking.py`
shrinks its findings, and `spark.py` distributes its cases. `database.py` finds the findings of the commands
that show, replay, bisect and script them. `states.py` and `studies.py` learn state machines.
"""
