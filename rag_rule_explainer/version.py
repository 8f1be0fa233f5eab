"""This module holds the version of the package. The build tool hatchling reads it from this file."""

__version__ = "0.2.0"
