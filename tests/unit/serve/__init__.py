"""Tests of cephtui/serve."""
