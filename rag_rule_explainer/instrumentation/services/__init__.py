"""This package finds out which services an application uses, and whether a service may store data that a
run sends to it. A service is a program outside of this process, or a server in a thread of this
process."""
