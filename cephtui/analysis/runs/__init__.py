"""Runs of sessions, put in order: batches, sides, changes, links, and one run over its seconds. Pure."""
