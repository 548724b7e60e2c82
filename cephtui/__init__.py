"""cephtui: an interactive benchmark console for storage and Ceph."""

__version__ = "0.1.0"
