import { describe } from "vitest";

/**
 * Suites that need a server are named as skipped where it is missing, never left out in silence:
 *
 * ```ts
 * onPostgres("a lease is held by one worker", () => { test("…", …); });
 * ```
 */
export const onPostgres = describe.skipIf(process.env.PAWL_TEST_POSTGRES_URL === undefined);

/** Through a pooler in transaction mode. */
export const throughPgbouncer = describe.skipIf(process.env.PAWL_TEST_PGBOUNCER_URL === undefined);

/** With a PostgreSQL of its own, from `startPostgres`. */
export const onOwnPostgres = describe.skipIf(process.env.PAWL_TEST_PG_BIN === undefined);

/** With RabbitMQ, whose address the suite gets from `rabbitmqUrl` before its tests. */
export const onRabbitmq = describe.skipIf(process.env.PAWL_TEST_RABBITMQ === undefined);

let asked: Promise<string> | undefined;

/** The RabbitMQ of this run, shared with other suites: objects on it have unique names. Started on first use. */
export function rabbitmqUrl(): Promise<string> {
  asked ??= fetch(process.env.PAWL_TEST_RABBITMQ!).then(async (answer) => {
    if (!answer.ok) throw new Error(await answer.text());
    return ((await answer.json()) as { PAWL_TEST_RABBITMQ_URL: string }).PAWL_TEST_RABBITMQ_URL;
  });
  return asked;
}

/** With a RabbitMQ of its own, from `startRabbitmq`. A broker that others use is not for killing. */
export const onOwnRabbitmq = describe.skipIf(
  process.env.PAWL_TEST_RABBITMQ === undefined || Boolean(process.env.PAWL_AMQP_URL),
);

/** In a real browser, from `openBrowser`. */
export const inBrowser = describe.skipIf(process.env.PAWL_TEST_CHROMIUM === undefined);
