"""From a choice to its runs: launched, queued, carried out on all nodes, recorded."""
