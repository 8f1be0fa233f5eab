"""This package finds out what tools read besides the model's arguments, and what they write. The recorded
result of a tool counts in a replay only where the tool would read the same there."""
