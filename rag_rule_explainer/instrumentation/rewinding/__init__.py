"""This package restores, for single replays, the state that an application had before the baseline. So it
finds out whether answers depend on state that earlier runs left, not only on the sources."""
