-- The schema of a crawl. skink runs this file in an empty schema; version is checked at every start.
-- Only statements that PostgreSQL, CockroachDB and YugabyteDB document are used.
--
-- A page is written in two steps. First its visit: record, text, sketch and links, in a transaction
-- of its own. Readers ignore a visit that no row of page refers to. Then its row of page, under the
-- commit lock (the row of turn). A crash between the two leaves such a visit; skink removes it after a day.

-- One row. Each commit locks it, so commits happen one after another. place counts the pages that all
-- commits wrote. birth identifies this store: a worker stops if it finds another value.
CREATE TABLE turn (
  one     smallint PRIMARY KEY CHECK (one = 1),
  version int      NOT NULL,
  birth   uuid     NOT NULL,
  place   bigint   NOT NULL, -- place of the page that was committed last
  holder  uuid     NOT NULL  -- attempt that committed last; the later statements of an attempt write nothing if this is another one
);

-- What a visit of a page found. id begins with the time, so that new rows are neighbours in the index.
-- A row takes some 1.5 kB plus the text, which the server compresses.
CREATE TABLE visit (
  id        uuid        PRIMARY KEY,
  page      uuid        NOT NULL,
  record    json        NOT NULL,
  text_hash uuid,       -- hash of the words of the text
  sketch    bytea,      -- 84 minima of 4 bytes
  keys      bigint[],   -- keys under which the page is in posting
  links     bytea,      -- packed, see store.PackLinks
  targets   uuid[],     -- ids of the pages that the links lead to, each once
  text      text,       -- main text; NULL: none is kept
  packed    bytea,      -- Markdown and headings, see store.PackMarked, and the text if it has bytes that a text cannot have; NULL: none of these
  written   timestamptz NOT NULL DEFAULT now()
);

-- The state of a page after its last visit. id is the first 16 bytes of the XXH3 hash of its URL. A row
-- takes some 100 bytes.
CREATE TABLE page (
  id          uuid   PRIMARY KEY,
  place       bigint NOT NULL, -- its place in the order of commits
  visit       uuid   NOT NULL,
  hash        uuid,            -- hash of the text, by which exact copies of the page are found
  leader      uuid,            -- id of the page that this one is a duplicate of
  resemblance float8 NOT NULL  -- to the leader, 0 to 1
);
CREATE UNIQUE INDEX page_place ON page (place);                                                 -- lists changes in order, and finds the leaders in posting
CREATE INDEX page_hash   ON page (hash, place) WHERE hash IS NOT NULL;                          -- finds the earliest page with a text
CREATE INDEX page_leader ON page (leader, resemblance DESC, place) WHERE leader IS NOT NULL;    -- lists the members of a cluster in order

-- Finds pages that may resemble a new one: for each key of a leader's sketch, the place of the leader. A
-- row takes 40 bytes with its index entry. A unique page has as many rows as the scheme has keys (6 to 14).
CREATE TABLE posting (
  key   bigint,
  place bigint,
  PRIMARY KEY (key, place)
);

-- Every URL that was ever discovered. The states are those of frontier.State: 1 pending, 2 fetched,
-- 3 redirected, 4 blocked, 5 failed, 6 given up, 7 outside the crawl. A row takes some 90 bytes with its
-- index entry.
CREATE TABLE known (
  hash  uuid     PRIMARY KEY, -- hash of the URL; begins with 4 bytes of the host's hash, so that the host's URLs are neighbours in the index
  state smallint NOT NULL,
  was   smallint NOT NULL,    -- state before the last change
  url   text                  -- only in state 7; in other states the URL is in a record or in the queue
);

-- URLs to fetch. It includes the URLs that workers are fetching now: a URL leaves the queue when it is finished.
CREATE SEQUENCE queue_seq;
CREATE TABLE queue (
  hash  uuid   PRIMARY KEY,
  host  text   NOT NULL,
  rank  int    NOT NULL,  -- priority, then depth; URLs with lower ranks come first
  seq   bigint NOT NULL DEFAULT nextval('queue_seq'),
  later bigint,           -- earliest time of the fetch, in Unix nanoseconds; NULL: at once
  item  json   NOT NULL
);
CREATE INDEX queue_order ON queue (host, rank, seq) WHERE later IS NULL;  -- lists a host's URLs in order
CREATE INDEX queue_later ON queue (host, later) WHERE later IS NOT NULL;  -- finds the URLs whose time has come

-- Hosts. rank and ripe are hints that say which host to try next; a claim looks into the queue.
CREATE TABLE host (
  name    text        PRIMARY KEY,
  rank    int,                            -- rank of the host's first URL in the queue, or lower; NULL: no URL is queued
  ripe    bigint      NOT NULL DEFAULT 0, -- time from which a URL may be fetched, in Unix nanoseconds; 0: now
  due     bigint      NOT NULL DEFAULT 0, -- the host rests until then, in Unix nanoseconds by the server's clock
  at      bigint      GENERATED ALWAYS AS (greatest(due, ripe)) STORED,
  idle    bool        NOT NULL DEFAULT false,
  rest    json        NOT NULL DEFAULT '{}',
  token   bigint      NOT NULL DEFAULT 0, -- counts the claims of the host; a write with an earlier token is refused
  worker  text,                           -- name of the worker that has claimed the host; NULL: none
  until   timestamptz NOT NULL DEFAULT 'epoch',
  touched timestamptz NOT NULL DEFAULT now() -- time of the last claim, renewal or release; in the future: the clock was set back
);
CREATE INDEX host_rank ON host (rank, at, name) WHERE rank IS NOT NULL; -- finds the hosts to claim first
CREATE INDEX host_held ON host (worker) WHERE worker IS NOT NULL;       -- counts the hosts that are held

-- Workers, with the time at which each last asked for hosts.
CREATE TABLE worker (
  name  text        PRIMARY KEY,
  asked timestamptz NOT NULL
);

-- Sums: URLs by state ("state 2"), records by kind and verdict. The value is the sum over slots; each
-- worker adds to its own slot, so that workers do not wait for each other.
CREATE TABLE counter (
  name text,
  slot smallint,
  n    bigint NOT NULL,
  PRIMARY KEY (name, slot)
) WITH (fillfactor = 25); -- every commit updates rows, so leave room for their new versions in the same block

-- Small named values. kind 0: settings of the crawl; kind 1: results that can be computed again.
CREATE TABLE meta (
  kind  smallint,
  name  text,
  value bytea NOT NULL,
  PRIMARY KEY (kind, name)
);

-- For people: one row for each URL that has a record. ../../docs/postgres.md shows queries.
CREATE VIEW pages AS
SELECT page.id, page.place,
  record->>'url' AS url, substring(record->>'url' FROM '//([^/?#]*)') AS host,
  record->>'kind' AS kind,          -- page, other, redirect, error, blocked, postponed
  record->>'verdict' AS verdict,    -- of a page: unique, exact, near, thin
  page.leader, page.resemblance,    -- of a duplicate: id of the page that it repeats, and the resemblance to that page
  (record->>'status')::int AS status,
  record->>'title' AS title,
  (record->>'words')::int AS words, -- number of words of the main text
  (record->>'fetched_at')::timestamptz AS fetched_at,
  visit.text, visit.targets, visit.record
  FROM page JOIN visit ON visit.id = page.visit;
