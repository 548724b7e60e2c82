"""Tests of cephtui/reports/masking."""
