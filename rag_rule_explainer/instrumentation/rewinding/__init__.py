"""This package restores the state that an application had before the baseline, for single replays."""
