"""This package stores answers and judgements in a database, so that other processes need not pay for them
again. An answer or judgement is used only after it is committed to the database, so a crash cannot lose
one that was used."""
