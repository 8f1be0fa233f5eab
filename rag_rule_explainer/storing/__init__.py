"""This room commits every paid answer and judgement before it is used, for this process and all
others."""
