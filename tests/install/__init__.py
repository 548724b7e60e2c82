"""All that is in ``dist/`` is installed, used and removed where users have it: ``make test-install``."""
