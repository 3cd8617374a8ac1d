import type { Lease } from "../tasks/tasks.ts";
import type { PostgresTarget } from "./target.ts";

/** What the thread sends to the process. */
export type FromThread =
  | { readonly lost: readonly Lease[] }
  | { readonly failure: string }
  /** A new connection needs the password that a function of the user returns, in the process. */
  | { readonly password: number }
  | { readonly stopped: true };

export interface LeaseThreadData {
  /** Without a password if the process is asked for it. */
  readonly target: PostgresTarget;
  readonly asksPassword: boolean;
  readonly leaseMs: number;
  readonly everyMs: number;
  /** How long the server may take to answer before its connection is replaced. */
  readonly timeoutMs: number;
  readonly tables: readonly SharedArrayBuffer[];
}

/** What the process sends to the thread. Leases come and go in the tables, without a message. */
export type ToThread =
  | { readonly table: SharedArrayBuffer }
  | { readonly password: number; readonly answer: { readonly text: string } | { readonly failure: string } }
  | { readonly stop: true };
