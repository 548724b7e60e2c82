"""Tests of cephtui/tools."""
