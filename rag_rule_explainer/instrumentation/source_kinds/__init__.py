"""This package makes sources of other things than retrieved documents, such as the results of tools."""
