"""This package writes the report of an audit: pages for people, and tables for programs."""
