"""Ceph: what to ask a cluster, how to read its answers, and the guards on them. Nothing here does I/O.

Argument lists come without the node's prefix, user and configuration. A ``parse_*`` function takes a command's
stdout and raises ValueError for anything but such an answer; keys that a release does not have yet, or has no
more, are left at their defaults.
"""
