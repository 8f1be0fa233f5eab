"""This package records the baseline's retrievals, serves the retained ones to replays, and checks which
sources a replay's models were sent."""
