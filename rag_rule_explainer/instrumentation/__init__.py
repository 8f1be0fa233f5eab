"""This package is the kit of every integration: it records an application and replays it on subsets of
its sources.

An integration implements ``Application`` for its framework, applies ``Patches`` to the framework's
classes, and makes an ``ApplicationRun`` and a ``Call`` for each input to explain.
"""
