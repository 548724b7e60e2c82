"""Choosing a preset, a target or nodes from what really exists."""
