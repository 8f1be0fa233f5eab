"""This module defines functions in PostgreSQL for the statements that run for every probe.

For a few rows, the server needs more time to plan a statement than to run it. If the statement is in a
function, the server plans it only once for each connection, even behind a connection pooler. Each array
that a function gets has one element for each row. Ids and answers are passed as hexadecimal digits.
"""

CREATE = (
    """
    CREATE FUNCTION rag_rules_claim(
        keys text[], samples int[], of_questions text[], in_ids text[], of_owner text, until float8[]
    ) RETURNS int LANGUAGE plpgsql AS $$
    DECLARE
        claimed int;
    BEGIN
        INSERT INTO rag_rules_answers (arrangement, sample, question, ids, owner, expires)
        SELECT given.key, given.number, questions.id, decode(given.hex, 'hex'), of_owner, given.until
        FROM unnest(keys, samples, of_questions, in_ids, until) AS given(key, number, digest, hex, until)
        JOIN rag_rules_questions AS questions ON questions.digest = given.digest COLLATE "C"
        -- What is there is left alone: it may be locked by somebody who waits for this transaction.
        WHERE NOT EXISTS (
            SELECT FROM rag_rules_answers AS answers
            WHERE answers.arrangement = given.key COLLATE "C" AND answers.sample = given.number
        )
        ORDER BY given.key COLLATE "C", given.number
        ON CONFLICT DO NOTHING;
        GET DIAGNOSTICS claimed = ROW_COUNT;
        RETURN claimed;
    END $$
    """,
    """
    CREATE FUNCTION rag_rules_put(
        keys text[], samples int[], of_questions text[], in_ids text[],
        in_answers text[], latencies float8[], at float8
    ) RETURNS int LANGUAGE plpgsql AS $$
    DECLARE
        put int;
        put_anew int := 0;
    BEGIN
        UPDATE rag_rules_answers AS answers
        SET answer = decode(given.hex, 'hex'), latency = given.latency, stored = at,
            owner = NULL, expires = NULL
        FROM unnest(keys, samples, in_answers, latencies) AS given(key, number, hex, latency)
        WHERE answers.arrangement = given.key COLLATE "C" AND answers.sample = given.number
            AND answers.answer IS NULL;
        GET DIAGNOSTICS put = ROW_COUNT;
        IF put < cardinality(keys) THEN -- somebody was faster, or the claims were pruned
            INSERT INTO rag_rules_answers
                (arrangement, sample, question, ids, answer, latency, stored)
            SELECT given.key, given.number, questions.id, decode(given.ids, 'hex'),
                decode(given.answer, 'hex'), given.latency, at
            FROM unnest(keys, samples, of_questions, in_ids, in_answers, latencies)
                AS given(key, number, digest, ids, answer, latency)
            JOIN rag_rules_questions AS questions ON questions.digest = given.digest COLLATE "C"
            ORDER BY given.key COLLATE "C", given.number
            ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS put_anew = ROW_COUNT;
        END IF;
        RETURN put + put_anew;
    END $$
    """,
)
"""The statements that create the functions in a database."""
