"""Widgets that several screens have: a run over time, tables, lists, sparklines, big digits."""
