"""This package restores, for single replays, the state that an application had before the baseline. Such
replays show whether answers depend on state that earlier runs left, and not only on the sources."""
