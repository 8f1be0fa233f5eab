"""This package isolates an application's memory: each run reads and writes its own copy."""
