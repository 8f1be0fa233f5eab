"""This package records the baseline's retrievals. In replays, it answers retrievals with the retained
sources, and checks which sources the models were sent."""
