"""Tests of cephtui/nodes."""
