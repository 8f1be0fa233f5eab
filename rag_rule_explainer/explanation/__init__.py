"""This package contains explanations, their rules, and the verification of a single rule."""
