"""Statistics: values in; means, intervals, ratios and probabilities out. Pure."""
