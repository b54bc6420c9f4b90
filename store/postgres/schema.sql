-- The schema of a crawl. skink runs this file in an empty schema; version is checked at every start.
-- Only statements that PostgreSQL, CockroachDB and YugabyteDB document are used.
--
-- A page is written in two steps. First its visit: record, text, sketch and links, in a transaction
-- of its own. Nobody reads a visit that no page names. Then its page, under the commit lock (the row
-- of turn). A crash between the two leaves a visit without a page; skink removes it after a day.

-- One row. A commit locks it, so commits happen one after another; place counts the pages that they
-- wrote. birth names this store: a worker stops if it finds another.
CREATE TABLE turn (
  one     smallint PRIMARY KEY CHECK (one = 1),
  version int      NOT NULL,
  birth   uuid     NOT NULL,
  place   bigint   NOT NULL, -- of the page that was committed last
  holder  uuid     NOT NULL  -- batch that committed last; a batch writes only what it finds itself named for
);

-- What a visit of a page found. id begins with the time, so that new rows are neighbours in the index.
-- Some 1.5 kB and the text, which the server compresses.
CREATE TABLE visit (
  id        uuid        PRIMARY KEY,
  page      uuid        NOT NULL,
  record    json        NOT NULL,
  text_hash uuid,       -- of the words of the text
  sketch    bytea,      -- 84 minima of 4 bytes
  keys      bigint[],   -- under which the page is in posting
  links     bytea,      -- packed, see store.PackLinks
  targets   uuid[],     -- ids of the pages that those links name, each once
  text      text,       -- main text; NULL: none is kept
  packed    bytea,      -- text and Markdown, see store.PackMarked; NULL: there is no Markdown
  written   timestamptz NOT NULL DEFAULT now()
);

-- A page as its last visit left it. id is the first 16 bytes of the XXH3 of its URL. Some 100 bytes.
CREATE TABLE page (
  id          uuid   PRIMARY KEY,
  place       bigint NOT NULL, -- its place in the order of commits
  visit       uuid   NOT NULL,
  hash        uuid,            -- of the text, under which copies find the page
  leader      uuid,            -- page that this one is a duplicate of
  resemblance float8 NOT NULL  -- to the leader, 0 to 1
);
CREATE UNIQUE INDEX page_place ON page (place);                                                 -- changes in order; leaders found in posting
CREATE INDEX page_hash   ON page (hash, place) WHERE hash IS NOT NULL;                          -- the earliest page of a text
CREATE INDEX page_leader ON page (leader, resemblance DESC, place) WHERE leader IS NOT NULL;    -- members of a cluster in order

-- Pages that may resemble others: for each key of a leader's sketch its place. 40 bytes a row with its
-- index entry, as many rows a unique page as the scheme has keys (6 to 14).
CREATE TABLE posting (
  key   bigint,
  place bigint,
  PRIMARY KEY (key, place)
);

-- Every URL that was ever discovered. The states are those of frontier.State: 1 pending, 2 fetched,
-- 3 redirected, 4 blocked, 5 failed, 6 given up, 7 outside the crawl. Some 90 bytes with the index.
CREATE TABLE known (
  hash  uuid     PRIMARY KEY, -- of the URL; begins with 4 bytes of the host's hash, so that its URLs are neighbours
  state smallint NOT NULL,
  was   smallint NOT NULL,    -- state before the last change
  url   text                  -- only in state 7; others have a record or are queued
);

-- URLs to fetch, those that are taken included: a URL leaves the queue when it ends.
CREATE SEQUENCE queue_seq;
CREATE TABLE queue (
  hash  uuid   PRIMARY KEY,
  host  text   NOT NULL,
  rank  int    NOT NULL,  -- priority and depth: lower ones come first
  seq   bigint NOT NULL DEFAULT nextval('queue_seq'),
  later bigint,           -- not to be fetched before, in Unix nanoseconds; NULL: at once
  item  json   NOT NULL
);
CREATE INDEX queue_order ON queue (host, rank, seq) WHERE later IS NULL;  -- a host's URLs in order
CREATE INDEX queue_later ON queue (host, later) WHERE later IS NOT NULL;  -- those whose time has come

-- Hosts. rank and ripe are hints that say which host to try next; a claim looks into the queue.
CREATE TABLE host (
  name    text        PRIMARY KEY,
  rank    int,                            -- of its first URL, or lower; NULL: no URL is queued
  ripe    bigint      NOT NULL DEFAULT 0, -- when the first URL may be fetched, 0: one may be now
  due     bigint      NOT NULL DEFAULT 0, -- the host rests until then, in Unix nanoseconds by the server's clock
  at      bigint      GENERATED ALWAYS AS (greatest(due, ripe)) STORED,
  idle    bool        NOT NULL DEFAULT false,
  rest    json        NOT NULL DEFAULT '{}',
  token   bigint      NOT NULL DEFAULT 0, -- of the last claim; writes with an earlier one are refused
  worker  text,                           -- who holds the host until then
  until   timestamptz NOT NULL DEFAULT 'epoch',
  touched timestamptz NOT NULL DEFAULT now() -- last claim, renewal or return; later than now: the clock was set back
);
CREATE INDEX host_rank ON host (rank, at, name) WHERE rank IS NOT NULL; -- what to claim first
CREATE INDEX host_held ON host (worker) WHERE worker IS NOT NULL;       -- how many are held

-- Workers that asked for hosts.
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
) WITH (fillfactor = 25); -- updated by every commit: room for the new version in the same block

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
  page.leader, page.resemblance,    -- of a duplicate: id of the page that it repeats, and how much of it
  (record->>'status')::int AS status,
  record->>'title' AS title,
  (record->>'words')::int AS words, -- of the main text
  (record->>'fetched_at')::timestamptz AS fetched_at,
  visit.text, visit.targets, visit.record
  FROM page JOIN visit ON visit.id = page.visit;
