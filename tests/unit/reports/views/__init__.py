"""Tests of cephtui/reports/views."""
