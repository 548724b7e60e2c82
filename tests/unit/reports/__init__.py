"""Tests of cephtui/reports."""
