"""This package runs an audit on many machines by Ray. The machines share a PostgreSQL database with the
paid answers, and with what the whole audit has spent."""
