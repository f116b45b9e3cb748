"""Experiments about groups of real consumers in a rebalance.

Many groups run at once on one broker; members are Java consumers that follow scripts in one JVM. `arms.py`
has the members' scripts and the proxy's scenarios for the commit that is marked in its metadata; `bed.py`
collects the members' notes, the exchanges, the broker's log and its file of __consumer_offsets. `figures.py`
computes the figures of a run, `totals.py` combines runs, `report.py` and `sentences.py` write; these know
no brokers.
"""
