"""A module in whose namespace applications leave marks."""
