"""Tests of cephtui/ceph."""
