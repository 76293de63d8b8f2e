"""Choose a scheme: weigh the risk against the length of intervals, before anything is masked."""
