"""This package isolates an application's memory: each run reads and writes a copy of its own."""
