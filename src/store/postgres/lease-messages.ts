import type { Lease } from "../tasks/tasks.ts";

/** What the thread sends to the process. */
export type FromThread =
  | { readonly lost: readonly Lease[] }
  | { readonly failure: string }
  | { readonly stopped: true };

export interface LeaseThreadData {
  readonly url: string;
  readonly leaseMs: number;
  readonly everyMs: number;
  /** How long the server may take to answer before its connection is replaced. */
  readonly timeoutMs: number;
  readonly tables: readonly SharedArrayBuffer[];
}

/** What the process sends to the thread. Leases come and go in the tables, without a message. */
export type ToThread = { readonly table: SharedArrayBuffer } | { readonly stop: true };
