"""Isolates what an application remembers: each run reads and writes a copy of its own."""
