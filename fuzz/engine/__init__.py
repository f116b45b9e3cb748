"""A campaign run: from a number to a case, to an observation, to a judgement, in shards or not."""
