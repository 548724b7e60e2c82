"""What the runs of sessions say, as data: batches, figures beside each other, conditions, the verdict. Pure."""
