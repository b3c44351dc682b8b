"""Traces: tables, the rules that build them, and where they are kept."""
