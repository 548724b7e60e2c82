"""Tests of cephtui/tools/fio."""
