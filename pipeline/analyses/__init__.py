"""Analyses of the table `exchanges`: one file each, with a function DataFrame -> DataFrame.

They are SQL that Spark and Sail run, also over Spark Connect, and collect nothing. Connections and
members are distinguished by capture. `registry.py` lists the analyses; `inputs.py` prepares the table for
them.
"""
