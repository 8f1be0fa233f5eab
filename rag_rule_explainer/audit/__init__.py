"""This package audits a corpus: it explains many answers, and says what its documents do in all of
them."""
