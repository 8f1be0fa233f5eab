"""This package replays the application on the subsets that a search requests, and judges the answers."""
