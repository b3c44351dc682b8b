"""The package as it is installed."""
