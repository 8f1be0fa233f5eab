"""This package finds out which services an application talks to, and whether these may keep what a run
sends them. A service is a program outside of this process, or a server in a thread of it."""
