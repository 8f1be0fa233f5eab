"""What all runs of an application share, by its code and by what is seen of it."""
