"""Tests of what stands around the package: imports, documents, wheel, and the tests themselves."""
