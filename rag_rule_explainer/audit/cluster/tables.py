"""This module defines the table that an audit has in PostgreSQL: what all workers together have spent,
and when the next run of the application may begin."""

from sqlalchemy import Connection

_LOCK = 7_241_860_314  # the number of a lock: only one process at a time may create the table

_CREATE = (
    """
    CREATE TABLE IF NOT EXISTS rag_rules_audits (
        audit text COLLATE "C" PRIMARY KEY,
        replays bigint NOT NULL DEFAULT 0,
        tokens bigint NOT NULL DEFAULT 0,
        cost float8 NOT NULL DEFAULT 0,
        stopped boolean NOT NULL DEFAULT false,
        next_replay float8 NOT NULL DEFAULT 0,
        next_tokens float8 NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE OR REPLACE FUNCTION rag_rules_audit_begin(
        of_audit text, wanted int, more_tokens bigint, more_cost float8,
        most_replays bigint, most_tokens bigint, most_cost float8, until float8,
        replay_gap float8, token_gap float8,
        OUT granted int, OUT wait float8, OUT spent_replays bigint, OUT spent_tokens bigint,
        OUT spent_cost float8, OUT is_stopped boolean, OUT is_late boolean
    ) LANGUAGE plpgsql AS $$
    DECLARE
        account rag_rules_audits%ROWTYPE;
        at float8;
        starts float8;
    BEGIN
        SELECT * INTO account FROM rag_rules_audits WHERE audit = of_audit COLLATE "C" FOR UPDATE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        at := extract(epoch FROM clock_timestamp());
        spent_tokens := account.tokens + more_tokens;
        spent_cost := account.cost + more_cost;
        is_stopped := account.stopped;
        is_late := coalesce(at >= until, false);
        granted := least(wanted, greatest(0, coalesce(most_replays - account.replays, wanted)));
        IF account.stopped OR spent_tokens >= most_tokens OR spent_cost >= most_cost OR at >= until THEN
            granted := 0;
        END IF;
        account.next_tokens := greatest(account.next_tokens, at) + more_tokens * token_gap;
        starts := greatest(at, account.next_replay);
        IF token_gap > 0 THEN
            starts := greatest(starts, account.next_tokens);
        END IF;
        wait := starts - at;
        spent_replays := account.replays + granted;
        UPDATE rag_rules_audits SET
            replays = spent_replays, tokens = spent_tokens, cost = spent_cost,
            next_replay = starts + granted * replay_gap, next_tokens = account.next_tokens
        WHERE audit = of_audit COLLATE "C";
    END $$
    """,
)


def create(connection: Connection) -> None:
    """Creates the table and the function of the database that a ledger uses, if they do not exist, in the
    open transaction of ``connection``."""
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    for statement in _CREATE:
        connection.exec_driver_sql(statement)
