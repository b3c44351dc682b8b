"""Questions and their answers: a Trace or Run in, a typed result out; nothing is read, printed or drawn."""

REPORT_VERSION = "16"
"""Part of the name of a stored report; changes whenever the same trace would give another one."""
