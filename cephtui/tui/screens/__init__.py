"""Screens that show saved and running benchmarks: sessions, one session, replay, compare, log, big digits."""
