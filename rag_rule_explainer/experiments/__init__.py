"""This package contains the paper's evaluations (experiments). They use ``Explainer`` as any other caller
does.

Each experiment's module takes typed settings and returns rows. The modules ``tables`` and ``charts``
write the rows to files.
"""
