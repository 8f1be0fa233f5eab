"""This package copies the state of an application, and replaces methods during an explanation."""
