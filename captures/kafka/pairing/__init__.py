"""Requests and their responses on one connection, and the exchanges that they make."""
