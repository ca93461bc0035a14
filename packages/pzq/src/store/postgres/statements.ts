/** Statements of the store in PostgreSQL. Times are microseconds; `NOW` is the database's own clock. */

const NOW = `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`;

/** Columns of a message, as `toMessage` reads them. */
const COLUMNS = `seq, stored_micros, expires_micros, deliveries, bytes, body`;

/** Sends all bodies as one piece, because arrays would be sent as text. Sequences follow the order of the arrays. */
export const PUT = `
  INSERT INTO pzq_messages (seq, stored_micros, due_micros, expires_micros, deliveries, bytes, body)
  SELECT nextval('pzq_seq'), stored, due, expires, 0, size, substring($1::bytea FROM place::int FOR length::int)
  FROM (
    SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
      WITH ORDINALITY AS put (stored, due, expires, size, place, length, number)
    ORDER BY number) AS puts
  RETURNING seq`;

/** Remembers ids, and returns the new ones. The caller sorts them, so that servers do not deadlock. */
export const REMEMBER = `
  INSERT INTO pzq_ids (id, seen_micros, until_micros)
  SELECT decode(id, 'hex'), seen, until FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS new (id, seen, until)
  ON CONFLICT (id) DO UPDATE SET seen_micros = excluded.seen_micros, until_micros = excluded.until_micros
    WHERE pzq_ids.until_micros <= excluded.seen_micros
  RETURNING encode(id, 'hex') AS id`;

/** Forgets ids whose window is over. */
export const FORGET = `
  DELETE FROM pzq_ids WHERE id IN (
    SELECT id FROM pzq_ids WHERE until_micros <= $1 ORDER BY until_micros LIMIT $2 FOR UPDATE SKIP LOCKED)`;

/** Removes messages or dead letters whose sequence and time of storing match. */
export const REMOVE = {
  messages: remove('pzq_messages'),
  dead: remove('pzq_dead'),
};

export const COUNT = `
  UPDATE pzq_messages AS m SET deliveries = new.deliveries
  FROM unnest($1::bigint[], $2::bigint[]) AS new (seq, deliveries) WHERE m.seq = new.seq`;

/** From messages to dead letters. */
export const BURY = `
  WITH gone AS (
    DELETE FROM pzq_messages AS m USING unnest($1::bigint[], $2::text[], $3::bigint[]) AS b (seq, reason, died)
    WHERE m.seq = b.seq RETURNING m.*, b.reason, b.died)
  INSERT INTO pzq_dead (${COLUMNS}, reason, died_micros) SELECT ${COLUMNS}, reason, died FROM gone RETURNING bytes`;

/** And back. */
export const REVIVE = `
  WITH gone AS (DELETE FROM pzq_dead WHERE seq = ANY($1::bigint[]) RETURNING *)
  INSERT INTO pzq_messages (seq, stored_micros, due_micros, expires_micros, deliveries, bytes, body)
  SELECT seq, stored_micros, 0, 0, 0, bytes, body FROM gone RETURNING bytes`;

/** Adds to this server's row. */
export const TALLY = `UPDATE pzq_counts SET messages = messages + $2, bytes = bytes + $3, dead = dead + $4 WHERE slot = $1`;
export const SUMS = `
  SELECT sum(messages)::bigint AS messages, sum(bytes)::bigint AS bytes, sum(dead)::bigint AS dead FROM pzq_counts`;

/** Leases at most $1 messages of $2 bytes, but at least one, for $3 microseconds. Skips rows that another server has locked. */
export const TAKE = `
  WITH woken AS MATERIALIZED (
    SELECT seq, bytes FROM pzq_messages WHERE due_micros > 0 AND due_micros <= ${NOW}
    ORDER BY due_micros LIMIT $1 FOR UPDATE SKIP LOCKED),
  fresh AS MATERIALIZED (
    SELECT seq, bytes FROM pzq_messages WHERE due_micros = 0 ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED),
  numbered AS (
    SELECT seq, row_number() OVER (ORDER BY seq) AS number, sum(bytes) OVER (ORDER BY seq) AS total
    FROM (SELECT * FROM woken UNION ALL SELECT * FROM fresh) AS candidates)
  UPDATE pzq_messages AS m SET due_micros = ${NOW} + $3
  FROM numbered AS n WHERE m.seq = n.seq AND n.number <= $1 AND (n.number = 1 OR n.total <= $2)
  RETURNING m.seq, m.stored_micros, m.expires_micros, m.deliveries, m.bytes, m.body`;

/** Ends leases: at once for 0, else in $2 microseconds. */
export const RELEASE = `
  UPDATE pzq_messages SET due_micros = CASE WHEN $2::bigint = 0 THEN 0 ELSE ${NOW} + $2::bigint END
  WHERE seq = ANY($1::bigint[]) AND due_micros > 0`;

/** Restarts leases for $2 microseconds. */
export const EXTEND = `
  UPDATE pzq_messages SET due_micros = ${NOW} + $2::bigint WHERE seq = ANY($1::bigint[]) AND due_micros > 0`;

/** At most $2 messages of $3 bytes after $1, but at least one. */
export const SCAN = window('pzq_messages', COLUMNS);
/** Dead letters, the same way. */
export const DEAD = window('pzq_dead', `${COLUMNS}, reason, died_micros`);

/** Size of the tables; not every database reports it. */
export const SIZE = `
  SELECT (pg_total_relation_size('pzq_messages') + pg_total_relation_size('pzq_dead') +
    pg_total_relation_size('pzq_ids'))::bigint AS bytes`;

function remove(table: string): string {
  return `
    DELETE FROM ${table} AS m USING unnest($1::bigint[], $2::bigint[]) AS r (seq, stored)
    WHERE m.seq = r.seq AND m.stored_micros = r.stored RETURNING m.seq, m.bytes`;
}

function window(table: string, columns: string): string {
  return `
    SELECT ${columns} FROM (
      SELECT *, row_number() OVER (ORDER BY seq) AS number, sum(bytes) OVER (ORDER BY seq) AS total
      FROM (SELECT * FROM ${table} WHERE seq > $1 ORDER BY seq LIMIT $2) AS page) AS numbered
    WHERE number = 1 OR total <= $3 ORDER BY seq`;
}
