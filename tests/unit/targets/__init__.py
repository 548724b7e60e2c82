"""Tests of cephtui/targets."""
