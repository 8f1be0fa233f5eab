"""This package reads the code of an application, and finds code that makes decisions by random values."""
