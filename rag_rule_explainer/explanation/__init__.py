"""What comes out: an explanation, its rules, and what is said of a single rule."""
