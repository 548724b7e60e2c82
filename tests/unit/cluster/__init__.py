"""Tests of cephtui/cluster."""
