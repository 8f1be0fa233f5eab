"""This module holds the version, which hatchling reads from here."""

__version__ = "0.1.0"
