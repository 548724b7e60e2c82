"""Nodes: how commands run there, on the console's own machine and over SSH."""
