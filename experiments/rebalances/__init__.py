"""Groups of real consumers in a rebalance: what they do, and what is seen of it from all sides."""
