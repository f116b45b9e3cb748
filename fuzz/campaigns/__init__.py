"""A campaign's file: what it may say, and those that come with barnabas."""
