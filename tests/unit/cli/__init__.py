"""Tests of cephtui/cli."""
