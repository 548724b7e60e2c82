"""The runs of sessions compared, as data: batches, figures beside each other, conditions, the verdict. Pure."""
