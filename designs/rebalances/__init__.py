"""Groups of real consumers in a rebalance: what they do, and what is seen of it from all sides.

Many groups run at once on one broker; members are Java consumers that follow scripts in one JVM. `arms.py`
says what members do and what the proxy does to the one commit that is marked in its metadata; `running.py`
gathers what members saw, what passed, the broker's log and its file of __consumer_offsets. `judging.py`
makes figures of that, `counting.py` puts runs together, `report.py`, `sentences.py` and `plots.py` write;
these know no brokers.
"""
