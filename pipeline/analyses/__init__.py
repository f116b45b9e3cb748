"""Questions to the table `exchanges`: one file each, a function DataFrame -> DataFrame.

All of it is Spark's own expressions, so it runs on Spark Connect too, and nothing is collected. What
belongs to a connection or a member is told apart by capture. `registry.py` lists them.
"""
