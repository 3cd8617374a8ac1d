import pg from "pg";
import { isPawlError, PawlError } from "../../base/errors.ts";
import { isReadOnly, translate } from "../port/failures.ts";
import type { HostClient, Hosts } from "./hosts.ts";

/** Connections that are lent to one caller at a time. */
export class LendingPool {
  readonly #pool: pg.Pool;
  readonly #hosts: Hosts;
  /** The option by which there would be more of them. */
  readonly #option: string;
  readonly #waitMs: number;
  /** The number of connections in use. */
  #lent = 0;

  constructor(hosts: Hosts, config: pg.PoolConfig, option: string, warn: (text: string) => void) {
    this.#hosts = hosts;
    this.#pool = new pg.Pool({ ...config, Client: hosts.Client } as pg.PoolConfig);
    this.#option = option;
    this.#waitMs = config.connectionTimeoutMillis ?? 0;
    // Both, or one cut connection ends the process: an idle client reports to the pool, one in use to itself.
    this.#pool.on("error", (error) => warn(`An idle connection to the database was lost: ${error.message}.`));
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** Lends a connection. After any failure except a plain refusal of the server it is discarded. */
  async lend<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let lost: Error | undefined;
    this.#lent += 1;
    try {
      return await work(client);
    } catch (error) {
      if (error instanceof BrokenConnection) {
        lost = error.failure;
        throw error.thrown;
      }
      // A server that takes no writes is left: a new connection may lead to the one that does.
      if (isPawlError(error, "outcome_unknown") || isReadOnly(error)) lost = error as PawlError;
      if (isReadOnly(error)) this.#hosts.moveOn(hostOf(client));
      throw error;
    } finally {
      this.#lent -= 1;
      client.release(lost);
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  #connect(): Promise<pg.PoolClient> {
    return this.#hosts.each(async () => {
      let client: pg.PoolClient;
      try {
        client = await this.#pool.connect();
      } catch (error) {
        throw this.#lent >= this.#pool.options.max ? this.#usedUp(error) : translate(error, "connecting");
      }
      try {
        this.#hosts.refuseReadOnly(client as unknown as HostClient);
        return client;
      } catch (error) {
        client.release(error as Error);
        throw error;
      }
    });
  }

  #usedUp(cause: unknown): PawlError {
    const { max } = this.#pool.options;
    return new PawlError(
      "busy",
      `All ${max} connections to the database are in use, and none came free within ${this.#waitMs / 1_000} s. Raise \`${this.#option}\`, or hold transactions for a shorter time.`,
      { connections: max },
      { cause },
    );
  }
}

function hostOf(client: pg.PoolClient): number {
  return (client as unknown as HostClient).hostIndex;
}

/** A transaction that could not even be rolled back: its connection is lost, and its error still counts. */
export class BrokenConnection extends Error {
  readonly thrown: unknown;
  readonly failure: Error;

  constructor(thrown: unknown, failure: Error) {
    super(failure.message);
    this.thrown = thrown;
    this.failure = failure;
  }
}
