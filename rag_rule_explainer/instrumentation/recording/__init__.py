"""This package records the baseline's retrievals, and checks the sources that replays were served."""
