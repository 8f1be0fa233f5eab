"""Calls of searches: recorded, and served on parts of what they found."""
