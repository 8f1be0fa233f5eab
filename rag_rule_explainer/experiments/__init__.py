"""The paper's evaluations, as users of the package: an experiment asks through ``Explainer``, and
counts. Each is a module: typed settings in, rows out. ``tables`` and ``figures`` write them down."""
