"""This package records the requests to models and their replies, and compares them between runs."""
