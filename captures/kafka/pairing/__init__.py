"""Pair the requests and responses of one connection, and build exchanges from them."""
