"""This package finds state that all runs of an application share, in its code and in its objects."""
