"""Findings: what costs a step time, with evidence, remedy and the time to win; results of analyses in, findings out."""
