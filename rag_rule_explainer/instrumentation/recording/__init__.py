"""This package records the baseline's retrievals, answers the retrievals of replays with the retained
sources, and checks which sources a replay's models were sent."""
