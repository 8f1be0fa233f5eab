"""This package gives an application the state that it had before the baseline, so that a replay can start
from this state. Such replays show whether answers depend on state that earlier runs left, and not only on
the sources."""
