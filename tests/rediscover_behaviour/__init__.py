"""How much `barnabas clients` finds of what is known: published faults of client libraries' behaviour.

The release that has a fault and the one that mended it run the same workload under the same scenario, with
the same seeds; neither workload nor scenario knows of a fault.
"""
