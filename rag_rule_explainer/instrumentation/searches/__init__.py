"""This package records the calls of searches, and serves subsets of their results in replays."""
