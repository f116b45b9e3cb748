"""Frames that nobody wants to read pass by arithmetic on their sizes: which ones, and how."""
