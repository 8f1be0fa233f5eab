"""This package runs an audit on many machines by Ray. The machines share a PostgreSQL database, which
holds the paid answers and counts the spending of the whole audit."""
