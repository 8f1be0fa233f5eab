"""Marks on the traces of replays, for every tracer that an application may use."""
