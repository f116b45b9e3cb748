"""Readers of observations, for targets and oracles: requests, responses, crashes, exceptions, memory."""
