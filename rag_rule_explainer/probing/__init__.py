"""Answers a search's asks: replays the application and judges what it says."""
