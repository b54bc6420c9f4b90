-- The schema of a crawl. skink runs this file in an empty schema. It checks the column version at every start.
-- The file uses only statements that PostgreSQL, CockroachDB and YugabyteDB document.
--
-- A page is written in two steps. The first step writes a visit (record, text, sketch and links) in a transaction
-- of its own. Readers ignore a visit to which no row of the table page refers. The second step writes the row of
-- page, under the commit lock (the row of turn). If a crash happens between the steps, skink removes the visit
-- after a day.

-- This table has one row. Each commit locks it, so commits happen one after another. The column place counts the
-- pages that all commits wrote. The column birth identifies this store: a worker stops if it finds another value.
CREATE TABLE turn (
  one     smallint PRIMARY KEY CHECK (one = 1),
  version int      NOT NULL,
  birth   uuid     NOT NULL,
  place   bigint   NOT NULL, -- place of the page that was committed last
  holder  uuid     NOT NULL  -- id of the attempt that committed last; the later statements of another attempt write nothing
);

-- The result of each visit to a page. The id begins with the time, so that new rows are neighbours in the index.
-- A row takes some 1.5 kB plus the text, which the server compresses.
CREATE TABLE visit (
  id        uuid        PRIMARY KEY,
  page      uuid        NOT NULL,
  record    json        NOT NULL,
  text_hash uuid,       -- hash of the words of the text
  sketch    bytea,      -- 84 minima of 4 bytes
  keys      bigint[],   -- keys of the page in the table posting
  links     bytea,      -- links of the page, packed by store.PackLinks
  targets   uuid[],     -- ids of the pages to which the links lead, without duplicates
  text      text,       -- main text; NULL means that none is kept
  packed    bytea,      -- Markdown and headings, see store.PackMarked, and the text if the type text cannot represent it; NULL means none of these
  written   timestamptz NOT NULL DEFAULT now()
);

-- The state of each page after the last visit that found it new or changed. The id is the first 16 bytes of the
-- SHA-256 hash of the page's URL. A row takes some 100 bytes.
CREATE TABLE page (
  id          uuid   PRIMARY KEY,
  place       bigint NOT NULL, -- place of the page in the order of commits
  visit       uuid   NOT NULL,
  hash        uuid,            -- hash of the text, by which exact copies of the page are found
  leader      uuid,            -- id of the page of which this page is a duplicate
  resemblance float8 NOT NULL, -- resemblance to the leader, 0 to 1
  lane        bigint NOT NULL  -- hash of the host and of the rank that the page has in the queue when it is visited again
);
CREATE UNIQUE INDEX page_place ON page (place);                                                 -- lists changes in order, and finds the leaders in posting
CREATE INDEX page_hash   ON page (hash, place) WHERE hash IS NOT NULL;                          -- finds the earliest page with a text
CREATE INDEX page_leader ON page (leader, resemblance DESC, place) WHERE leader IS NOT NULL;    -- lists the members of a cluster in order

-- The index of pages that may resemble a new page: for each key of a leader's sketch, the place of the leader.
-- A row takes 40 bytes with its index entry. A unique page has as many rows as the scheme has keys (6 to 14).
CREATE TABLE posting (
  key   bigint,
  place bigint,
  PRIMARY KEY (key, place)
);

-- The last visits that found pages unchanged, and the pages to visit again. A row has up to 64 pages of one lane, in
-- the order of their places, and takes some 1.5 kB. The page at a place is in the row with the highest first of its
-- lane up to that place, or in none. The server logs the bytes from the first to the last that changed. Most commits
-- change only neighbours in the column visits, and the columns after it change when the pages are queued and finished.
-- The fill factor leaves room for a new row in the same block.
CREATE TABLE run (
  lane   bigint,
  first  bigint,
  host   text       NOT NULL,
  rank   int        NOT NULL, -- as in the table queue
  places bigint[]   NOT NULL,
  visits bytea[]    NOT NULL, -- for each page: time of the last visit like asked, then the fields of the record that it changed in an unusual way, see packVisit in runs.go; empty means that there was none
  wanted smallint[] NOT NULL, -- for each page: 0 it is not queued; otherwise 1, plus 2 if the request has the validators of the record, 4 if the page is pending although its visit is not before asked
  asked  bytea      NOT NULL, -- when the visits were requested, in Unix nanoseconds as 8 bytes, big-endian
  seq    bigint,              -- as in the table queue; NULL means that no page of the row is pending
  PRIMARY KEY (lane, first)
) WITH (fillfactor = 50);
CREATE INDEX run_order ON run (host, rank, seq) WHERE seq IS NOT NULL; -- lists a host's pages to visit again in order

-- Every URL that was ever discovered. The states are those of frontier.State: 1 pending, 2 fetched,
-- 3 redirected, 4 blocked, 5 failed, 6 given up, 7 outside the crawl, 8 postponed. A URL in the table queue, or pending in the
-- table run, is pending, whatever its state here. A row takes some 150 bytes with its index entry and the room for
-- its next version.
CREATE TABLE known (
  hash  uuid     PRIMARY KEY, -- hash of the URL; begins with 4 bytes of the host's hash, so that the host's URLs are neighbours in the index
  state smallint NOT NULL,
  was   smallint NOT NULL,    -- state before the last change
  url   text                  -- set only in state 7; in the other states the URL is in a record or in the queue
) WITH (fillfactor = 45); -- the first visit changes the state, which writes no index if there is room in the block

-- The URLs to fetch, including those that workers are fetching now, but without those in the table run. A URL is
-- removed when it is finished.
CREATE SEQUENCE queue_seq;
CREATE TABLE queue (
  hash  uuid   PRIMARY KEY,
  host  text   NOT NULL,
  rank  int    NOT NULL,  -- priority, then depth; URLs with lower ranks come first
  seq   bigint NOT NULL DEFAULT nextval('queue_seq'),
  later bigint,           -- earliest time of the fetch, in Unix nanoseconds; NULL means that the URL may be fetched at once
  item  json   NOT NULL
);
CREATE INDEX queue_order ON queue (host, rank, seq) WHERE later IS NULL;  -- lists a host's URLs in order
CREATE INDEX queue_later ON queue (host, later) WHERE later IS NOT NULL;  -- finds the URLs whose time has come

-- The hosts of the crawl. The columns rank and ripe are hints for choosing a host. A claim also reads the queue.
CREATE TABLE host (
  name    text        PRIMARY KEY,
  rank    int,                            -- rank of the host's first URL in the queue, or lower; NULL means that no URL is queued
  ripe    bigint      NOT NULL DEFAULT 0, -- time from which a URL may be fetched, in Unix nanoseconds; 0 means now
  due     bigint      NOT NULL DEFAULT 0, -- time before which the host must not be requested, in Unix nanoseconds by the server's clock
  at      bigint      GENERATED ALWAYS AS (greatest(due, ripe)) STORED,
  idle    bool        NOT NULL DEFAULT false,
  rest    json        NOT NULL DEFAULT '{}',
  token   bigint      NOT NULL DEFAULT 0, -- counts the claims of the host; a write with an earlier token is refused
  worker  text,                           -- name of the worker that has claimed the host; NULL means none
  until   timestamptz NOT NULL DEFAULT 'epoch',
  touched timestamptz NOT NULL DEFAULT now() -- time of the last claim, renewal or release; if it is in the future, the clock was set back
);
CREATE INDEX host_rank ON host (rank, at, name) WHERE rank IS NOT NULL; -- finds the hosts to claim first
CREATE INDEX host_held ON host (worker) WHERE worker IS NOT NULL;       -- counts the hosts that workers have claimed

-- The time of the last request to each host, which any worker reserves before it sends the request. Claims and
-- commits lock the rows of host, so this is a table of its own.
CREATE TABLE slot (
  host  text   PRIMARY KEY,
  at    bigint NOT NULL, -- in Unix nanoseconds by the server's clock
  delay bigint NOT NULL  -- time until the next request, in nanoseconds
);

-- The workers, each with the time at which it last asked for hosts.
CREATE TABLE worker (
  name  text        PRIMARY KEY,
  asked timestamptz NOT NULL
);

-- The numbers of URLs by state ("state 2"), and of records by kind and verdict. A number is the sum over all slots.
-- Each worker adds to a slot of its own, so that workers do not wait for each other.
CREATE TABLE counter (
  name text,
  slot smallint,
  n    bigint NOT NULL,
  PRIMARY KEY (name, slot)
) WITH (fillfactor = 25); -- every commit updates rows, so leave room for their new versions in the same block

-- Small named values. Kind 0 contains settings of the crawl, and kind 1 contains results that can be computed again.
CREATE TABLE meta (
  kind  smallint,
  name  text,
  value bytea NOT NULL,
  PRIMARY KEY (kind, name)
);

-- This view is for people who write queries, see ../../docs/postgres.md. It has one row for each URL with a record.
CREATE VIEW pages AS
SELECT page.id, page.place,
  record->>'url' AS url, substring(record->>'url' FROM '//([^/?#]*)') AS host,
  record->>'kind' AS kind,          -- page, other, redirect, error, blocked, postponed
  record->>'verdict' AS verdict,    -- verdict of a page: unique, exact, near, thin
  page.leader, page.resemblance,    -- id of the page that a duplicate repeats, and the resemblance to that page
  (record->>'status')::int AS status,
  record->>'title' AS title,
  (record->>'words')::int AS words, -- number of words of the main text
  (record->>'fetched_at')::timestamptz AS fetched_at,
  coalesce(visited, (record->>'fetched_at')::timestamptz) AS visited_at, -- last visit; if it found the page unchanged, record is that of an earlier visit
  visit.text, visit.targets, visit.record
  FROM page JOIN visit ON visit.id = page.visit LEFT JOIN LATERAL (
    SELECT 'epoch'::timestamptz + nullif(('x' || encode(substr(visits[array_position(places, page.place)], 1, 8), 'hex'))::bit(64)::bigint, 0) / 1000 * interval '1 microsecond' AS visited
    FROM run WHERE run.lane = page.lane AND run.first <= page.place ORDER BY run.first DESC LIMIT 1) last ON true;

-- This view has the URLs to fetch from both tables. The last five columns are those of a page in the table run, whose
-- item they describe.
CREATE VIEW waiting AS
SELECT host, rank, seq, 0 AS place, later, item->>'URL' AS url, item, NULL::uuid AS id, NULL::json AS record, NULL::bytea AS visit, NULL::bytea AS asked, NULL::smallint AS wanted FROM queue
UNION ALL
SELECT r.host, r.rank, r.seq, u.place, NULL, v.record->>'url', NULL, v.id, v.record, u.visit, r.asked, u.wanted
  FROM run r CROSS JOIN LATERAL unnest(r.places, r.wanted, r.visits) u(place, wanted, visit) JOIN page ON page.place = u.place JOIN visit v ON v.id = page.visit
  WHERE r.seq IS NOT NULL AND u.wanted > 0 AND (u.wanted >= 4 OR u.visit < r.asked);
