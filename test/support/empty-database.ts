import { randomBytes } from "node:crypto";
import pg from "pg";

/** A database without anything in it on the tests' server, by its URL there and through the pooler. */
export interface EmptyDatabase {
  readonly url: string;
  readonly pooled: string | undefined;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function emptyDatabase(): Promise<EmptyDatabase> {
  const server = process.env.PAWL_TEST_POSTGRES_URL!;
  const pooler = process.env.PAWL_TEST_PGBOUNCER_URL;
  const name = `pawl_empty_${randomBytes(6).toString("hex")}`;
  await onServer(server, `create database ${name}`);
  return {
    url: inDatabase(server, name),
    pooled: pooler === undefined ? undefined : inDatabase(pooler, name),
    [Symbol.asyncDispose]: () => onServer(server, `drop database ${name} with (force)`),
  };
}

async function onServer(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

function inDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
