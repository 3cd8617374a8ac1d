import pg from "pg";
import { isPawlError, PawlError } from "../../base/errors.ts";
import { readOnly, translate } from "../port/failures.ts";
import type { PostgresTarget } from "./target.ts";

/** Parts that the driver's types omit. */
interface Connection {
  on(event: "parameterStatus", listener: (status: { parameterName: string; parameterValue: string }) => void): void;
}

/** A connection that knows which host it leads to, and whether that takes writes. */
export interface HostClient extends pg.Client {
  readonly hostIndex: number;
  /**
   * Why it takes none, if it does not. The server reports it when a connection begins, and again when it changes (PostgreSQL
   * 14 or newer).
   */
  readonly readOnlyReason: string | undefined;
}

/** What a server reports that takes no writes. An old primary that came back is often fenced by the second one. */
const readOnlyReasons: Readonly<Record<string, string>> = {
  in_hot_standby: "the server is a standby",
  default_transaction_read_only: "the server has default_transaction_read_only = on",
};

/**
 * The hosts of one database, of which the primary is used. All connections of a process try the host that worked last;
 * a failed one moves all to the next.
 */
export class Hosts {
  readonly #target: PostgresTarget;
  #current = 0;
  /** Connects to the host that is current when it is made; pools make their clients of it. */
  readonly Client: new (
    config?: pg.ClientConfig,
  ) => HostClient;

  constructor(target: PostgresTarget) {
    this.#target = target;
    this.Client = clientClass(target, this);
  }

  get count(): number {
    return this.#target.urls.length;
  }

  get current(): number {
    return this.#current;
  }

  /** Moves new connections to the next host, unless another connection has done so already. */
  moveOn(from: number): void {
    if (this.#current === from) this.#current = (from + 1) % this.count;
  }

  /** A connected client, of the first host that takes writes. */
  async connect(config: pg.ClientConfig): Promise<HostClient> {
    return this.each(async () => {
      const client = new this.Client(config);
      client.on("error", () => {});
      try {
        await client.connect();
        this.refuseReadOnly(client);
        return client;
      } catch (error) {
        await client.end().catch(() => {});
        throw error;
      }
    });
  }

  /** Tries to connect to each host once, beginning with the one that worked last. Only a host that is away leads to the next. */
  async each<T>(connect: () => Promise<T>): Promise<T> {
    const failures: PawlError[] = [];
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        const failure = translate(error, "connecting");
        if (!isPawlError(failure, "database_unreachable") || this.count === 1) throw error;
        failures.push(failure);
        if (failures.length >= this.count) throw noneOf(failures);
      }
    }
  }

  /** One of several hosts that takes no writes: the primary is another one. */
  refuseReadOnly({ hostIndex, readOnlyReason }: HostClient): void {
    if (readOnlyReason === undefined) return;
    this.moveOn(hostIndex);
    throw readOnly(readOnlyReason);
  }
}

function noneOf(failures: readonly PawlError[]): PawlError {
  const reasons = [...new Set(failures.map((failure) => failure.message))].join(" ");
  const last = failures.at(-1)!;
  return new PawlError(
    "database_unreachable",
    `None of the ${failures.length} database hosts accepts writes. ${reasons}`,
    { ...last.details, hosts: failures.length },
    { cause: last },
  );
}

function clientClass(target: PostgresTarget, hosts: Hosts): new (config?: pg.ClientConfig) => HostClient {
  return class extends pg.Client {
    readonly hostIndex: number;
    readonly #reported = new Set<string>();

    constructor(config: pg.ClientConfig = {}) {
      const index = hosts.current;
      const connectionString = target.urls[index];
      const { password, ...settings } = target.settings;
      super({
        ...config,
        ...settings,
        ...(connectionString === undefined ? {} : { connectionString }),
      } as pg.ClientConfig);
      this.hostIndex = index;
      // A URL without a password would override it with none.
      if (password !== undefined) Object.defineProperty(this, "password", { value: password, writable: true });
      const { connection } = this as unknown as { connection: Connection };
      connection.on("parameterStatus", ({ parameterName, parameterValue }) => {
        if (!(parameterName in readOnlyReasons)) return;
        if (parameterValue === "on") this.#reported.add(parameterName);
        else this.#reported.delete(parameterName);
      });
      this.#moveOnWhenUnconnected();
    }

    get readOnlyReason(): string | undefined {
      const [first] = this.#reported;
      return first && readOnlyReasons[first];
    }

    /** The pool calls it with a callback, other code awaits it; both see the same failure. */
    #moveOnWhenUnconnected(): void {
      const connect = this.connect.bind(this) as (done?: (error: Error | null) => void) => Promise<void> | undefined;
      const moveOn = (): void => hosts.moveOn(this.hostIndex);
      this.connect = ((done?: (error: Error | null) => void) => {
        if (done === undefined) {
          return connect()!.catch((error: unknown) => {
            moveOn();
            throw error;
          });
        }
        return connect((error) => {
          if (error) moveOn();
          done(error);
        });
      }) as typeof this.connect;
    }
  };
}
