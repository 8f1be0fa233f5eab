"""This package records the searches of the baseline. In replays, the same searches get the recorded
results, without the omitted sources."""
