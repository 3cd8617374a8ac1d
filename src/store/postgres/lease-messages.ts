import type { Lease } from "../tasks/tasks.ts";
import type { PostgresTarget } from "./target.ts";

/** A message from the thread to the process. */
export type FromThread =
  | { readonly lost: readonly Lease[] }
  | { readonly failure: string }
  /** A new connection needs the password that a function of the user returns, in the process. */
  | { readonly password: number }
  | { readonly stopped: true };

export interface LeaseThreadData {
  /** Without a password if the process provides it. */
  readonly target: PostgresTarget;
  readonly asksPassword: boolean;
  readonly leaseMs: number;
  readonly everyMs: number;
  /** How long the server may take to answer before its connection is replaced. */
  readonly timeoutMs: number;
  readonly tables: readonly SharedArrayBuffer[];
}

/** A message from the process to the thread. Leases change in the shared tables, without a message. */
export type ToThread =
  | { readonly table: SharedArrayBuffer }
  | { readonly password: number; readonly answer: { readonly text: string } | { readonly failure: string } }
  | { readonly stop: true };
