"""Tests of cephtui/analysis."""
