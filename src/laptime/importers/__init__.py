"""Foreign formats in, traces out: one file per format, and one ordered tuple of them in `opening`."""
