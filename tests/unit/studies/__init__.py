"""Tests of cephtui/studies."""
