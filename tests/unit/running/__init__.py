"""Tests of cephtui/running."""
