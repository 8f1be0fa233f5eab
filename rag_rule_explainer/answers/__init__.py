"""This package contains parts of an answer: its tool calls, and its comparison with other objects."""
