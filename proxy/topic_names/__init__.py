"""The names of topics that messages give by id.

`names` learns them from what passes; `questions` says which ones a broker is to be asked for, and when.
"""
