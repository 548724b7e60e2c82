"""Tests that need the lab: a Ceph cluster and three hosts with OpenSSH, each in namespaces of its own."""
