"""This package records the searches of the baseline, and serves subsets of their results in replays."""
