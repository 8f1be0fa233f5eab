"""This package finds state that all runs of an application share, such as an attribute or a global
variable. By such state, one run may influence a later one. The package reads the application's code and
its objects."""
