"""What every integration is made of: it wraps an application, records it, replays it on parts of that.

An integration tells this room about its framework (``Application``), puts ``Patches`` on its framework's
classes, and hands ``ApplicationRun`` and ``Call`` what its users want explained.
"""
