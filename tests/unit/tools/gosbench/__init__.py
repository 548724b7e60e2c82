"""Tests of cephtui/tools/gosbench."""
