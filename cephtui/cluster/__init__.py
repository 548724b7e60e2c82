"""A Ceph cluster as cephtui asks it: one reader; on it checks before a run, monitoring during it, and discovery."""
