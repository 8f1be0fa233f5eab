"""This package runs an audit on many machines by Ray. What they share is in PostgreSQL: paid answers, and
what the whole audit has spent."""
