/** Connection settings for PostgreSQL that a URL cannot express. */
export interface DatabaseOptions {
  /** `postgres://user@host:5432/name`; several hosts are tried in turn. Instead of `host`, `port`, `user` and `database`. */
  readonly url?: string | undefined;
  readonly host?: string | undefined;
  /** @default 5432 */
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  /** The name of the database. */
  readonly database?: string | undefined;
  /** A function is called for each new connection, for passwords that expire, such as those of IAM. */
  readonly password?: string | (() => string | Promise<string>) | undefined;
  /**
   * `true`, or options of Node's `tls.connect`: `{ ca, cert, key, rejectUnauthorized }`. Overrides the TLS settings of
   * the URL.
   */
  readonly ssl?: boolean | object | undefined;
}

/** A `Pool` of `pg`. */
export interface DatabasePool {
  readonly options: object;
  readonly totalCount: number;
  connect(): Promise<unknown>;
}

/** Where PostgreSQL is: a URL, options, or the pool of `pg` whose settings apply. */
export type DatabaseLocation = string | DatabaseOptions | DatabasePool;
