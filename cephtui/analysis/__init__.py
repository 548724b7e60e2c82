"""What runs mean, as data. Its rooms import one way: statistics, runs, detectors, views, verdicts. Pure."""
