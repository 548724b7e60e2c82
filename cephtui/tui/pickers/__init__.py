"""Dialogs that choose a preset, a target, nodes or a run from those that exist."""
