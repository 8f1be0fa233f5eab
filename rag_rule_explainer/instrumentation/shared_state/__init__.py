"""This package finds state that all runs of an application share, such as an attribute or a global
variable, and by which one run may influence a later one. It reads the application's code and its
objects."""
