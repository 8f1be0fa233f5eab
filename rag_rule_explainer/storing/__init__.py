"""This package stores answers and judgements in a database. Each is committed before it is used, so that
all processes can use what one of them has paid for."""
