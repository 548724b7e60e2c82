"""Tests of cephtui/analysis/views."""
