"""This package runs one call of ``explain``: its baseline, its plan, its searches, and the
explanation."""
