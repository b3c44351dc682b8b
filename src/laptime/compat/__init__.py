"""The two interfaces that laptime grew from, by their names: an existing script changes one import line."""
