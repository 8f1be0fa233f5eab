"""This package is the basis of all integrations: it records a run of an application, and replays the
application on subsets of its sources.

An integration implements ``Application`` for its framework, and applies ``Patches`` to the framework's
classes. For each input to explain, it makes an ``ApplicationRun`` and a ``Call``.
"""
