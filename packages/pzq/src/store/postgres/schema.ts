/** Tables of the store in PostgreSQL, format 1. Uses only what distributed databases with the same protocol also have. */

export const FORMAT = 1;

/** Number of rows of counters: many, so that servers rarely wait for each other. */
export const SLOTS = 64;

/** Creates missing tables; each statement may fail if two servers run it at once. */
export const SCHEMA: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS pzq_meta (one boolean PRIMARY KEY CHECK (one), format bigint NOT NULL, epoch text NOT NULL)`,
  `CREATE SEQUENCE IF NOT EXISTS pzq_seq`,
  // due_micros: 0 for a message that any server may take, else the end of its lease or delay.
  `CREATE TABLE IF NOT EXISTS pzq_messages (
     seq bigint PRIMARY KEY,
     stored_micros bigint NOT NULL,
     due_micros bigint NOT NULL,
     expires_micros bigint NOT NULL,
     deliveries bigint NOT NULL,
     bytes bigint NOT NULL,
     body bytea NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS pzq_messages_ready ON pzq_messages (seq) WHERE due_micros = 0`,
  `CREATE INDEX IF NOT EXISTS pzq_messages_due ON pzq_messages (due_micros) WHERE due_micros > 0`,
  `CREATE TABLE IF NOT EXISTS pzq_dead (
     seq bigint PRIMARY KEY,
     stored_micros bigint NOT NULL,
     expires_micros bigint NOT NULL,
     deliveries bigint NOT NULL,
     bytes bigint NOT NULL,
     body bytea NOT NULL,
     reason text NOT NULL,
     died_micros bigint NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS pzq_ids (id bytea PRIMARY KEY, seen_micros bigint NOT NULL, until_micros bigint NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS pzq_ids_until ON pzq_ids (until_micros)`,
  // Sizes are sums over all rows; a single row may be negative.
  `CREATE TABLE IF NOT EXISTS pzq_counts (
     slot bigint PRIMARY KEY,
     messages bigint NOT NULL,
     bytes bigint NOT NULL,
     dead bigint NOT NULL)`,
  `INSERT INTO pzq_counts SELECT slot, 0, 0, 0 FROM generate_series(0, ${SLOTS - 1}) AS slot ON CONFLICT DO NOTHING`,
];

/** Rows are short-lived and should be vacuumed soon. A database may refuse this without harm. */
export const TUNING: readonly string[] = [
  `ALTER TABLE pzq_messages SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
     autovacuum_vacuum_cost_delay = 0)`,
];
