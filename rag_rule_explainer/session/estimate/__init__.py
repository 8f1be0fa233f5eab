"""This package estimates the cost of an explanation before anything is paid."""
