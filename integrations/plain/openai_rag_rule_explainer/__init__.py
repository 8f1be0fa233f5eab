"""This package reads the requests and replies of the official OpenAI client, for the integrations whose
applications may use it."""
