"""This package makes sources that are not retrieved documents: the results of tools, and parts of prompts
such as earlier turns of the conversation."""
