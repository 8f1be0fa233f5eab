"""Records of what was retrieved, and checks of what replays were served."""
