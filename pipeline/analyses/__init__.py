"""Analyses of the table `exchanges`: one file each, with a function DataFrame -> DataFrame.

They use Spark's own expressions, so they also run on Spark Connect, and collect nothing. Connections and
members are distinguished by capture. `registry.py` lists the analyses; `inputs.py` prepares the table for
them.
"""
