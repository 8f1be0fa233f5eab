"""Copies of objects, and methods replaced while somebody explains."""
