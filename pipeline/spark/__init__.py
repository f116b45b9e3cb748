"""Spark itself: sessions, masters, Spark Connect, its Java, and our code on its workers."""
