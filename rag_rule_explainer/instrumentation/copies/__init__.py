"""This package copies the state of an application, and replaces methods of classes during an
explanation."""
