-- Loads passages into PostgreSQL with pgvector, or brings them up to date:
--
--	skink export --chunks --cursor passages.cursor | psql -f pgvector.sql DATABASE
--
-- Compute vectors for the rows that this query lists: SELECT id, text FROM passages WHERE embedding
-- IS NULL. A passage keeps its vector as long as its words stay the same, because its id does.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS passages (
    id text PRIMARY KEY,
    url text NOT NULL,
    host text,
    title text,
    headings jsonb,
    text text NOT NULL,
    published_at text,
    fetched_at timestamptz,
    also_at jsonb,
    embedding vector(384)
);
BEGIN;
CREATE TEMPORARY TABLE lines (n serial, line jsonb) ON COMMIT DROP;
\copy lines (line) FROM pstdin WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
DELETE FROM passages USING lines WHERE id = line->>'id' AND line->>'change' = 'gone';
INSERT INTO passages (id, url, host, title, headings, text, published_at, fetched_at, also_at)
SELECT DISTINCT ON (line->>'id') line->>'id', line->>'url', line->>'host', line->>'title', line->'headings', line->>'text',
    line->>'published_at', (line->>'fetched_at')::timestamptz, line->'also_at'
FROM lines
WHERE line->>'change' IS DISTINCT FROM 'gone'
ORDER BY line->>'id', n DESC
ON CONFLICT (id) DO UPDATE SET url = EXCLUDED.url, host = EXCLUDED.host, title = EXCLUDED.title, headings = EXCLUDED.headings,
    text = EXCLUDED.text, published_at = EXCLUDED.published_at, fetched_at = EXCLUDED.fetched_at, also_at = EXCLUDED.also_at;
COMMIT;
