"""This package stores answers and judgements in a database, so that other processes need not pay for
them again. Each is committed before it is used."""
