"""This room marks the traces of replays, in every tracer that an application may use."""
