"""What models were sent and replied, compared between runs."""
