"""The format of campaign files, and the campaigns that come with barnabas."""
