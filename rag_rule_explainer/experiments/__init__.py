"""This package contains the paper's evaluations, which use ``Explainer`` like any other caller.

Each module takes typed settings and returns rows. The modules ``tables`` and ``figures`` write the rows
to files.
"""
