"""This package reads the code of an application, to find code that makes decisions by random values."""
