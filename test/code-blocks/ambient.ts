// What blocks of code take as given: the reader's own services, values of an earlier paragraph, and a few definitions.
import type { Hono } from "hono";
import type { DeadLetter, Pawl, Step } from "pawl";
import type * as given from "./definitions.ts";

type Ends =
  | "end"
  | "done"
  | "grading"
  | "read"
  | "unread"
  | "scored"
  | "unscored"
  | "booking"
  | "queued"
  | "using_backup";

/** A service of the reader's own. */
// biome-ignore lint/suspicious/noExplicitAny: what it offers is not Pawl's to say.
type Theirs = any;

declare global {
  const pawl: Pawl;
  const parcel: typeof given.parcel;
  const essay: typeof given.essay;
  const solve: typeof given.solve;
  const cleanUp: typeof given.cleanUp;
  const sendEmail: typeof given.sendEmail;
  const essays: typeof given.essays;
  const animals: typeof given.essays;
  const receipts: typeof given.receipts;
  const expense: typeof given.essay;
  const lifecycles: (typeof given.essay)[];
  const step: Step<given.Data & { audio: string; [key: string]: Theirs }, Record<string, undefined>>;
  type Essay = { text: string };
  const letter: DeadLetter;
  const app: Hono;

  const partData: typeof given.partData;
  const partLabel: typeof given.partLabel;
  const partEnds: { readonly [Name in Ends]: { readonly final: "success" } };

  const z: typeof import("zod").z;
  const Answer: typeof given.Answer;
  const Callback: typeof given.Callback;
  const bank: Theirs;
  const carrier: Theirs;
  const mailer: Theirs;
  const signer: Theirs;
  const pg: typeof import("pg");
  const readFileSync: typeof import("node:fs").readFileSync;
  const llm: Theirs;
  const speech: Theirs;
  const audio: Theirs;
  const grade: () => Promise<void>;
  const collect: () => Promise<void>;
  const buildIndex: () => Promise<void>;
  const buyLabel: () => Promise<void>;
  const isTrained: (labeler: string) => Promise<boolean>;
  const isNetworkError: (error: unknown) => boolean;
  const endpointOf: (id: string) => { id: string; url: string; secrets: string[] };
  const principalOf: Theirs;
  const authenticate: Theirs;
  const store: (message: unknown) => Promise<void>;
  const read: Theirs;
  const endpoint: Theirs;
  const pino: Theirs;

  // Not exported by Pawl: named in doc comments of its own files only.
  const openPglite: typeof import("../../src/store/pglite/open.ts").openPglite;
  const sql: typeof import("../../src/store/port/db.ts").sql;

  const tx: import("pawl").TransactionLike;
  const database: string;
  const url: string;
  const id: string;
  const email: string;
  const fingerprint: string;
  const requestId: string;
  const callback: { readonly id: string };
  const submission: { readonly id: string };
  const message: { readonly Body: string };
  const monday: Date;
  const text: string;
  const labels: Theirs;
  const labelsOfOneSample: Theirs;
  const gold: Theirs;
  const shape: Theirs;
  const rows: Theirs;
  const batch: unknown[];
  const file: import("node:fs").WriteStream;
  let lastCursor: unknown;
  const createReadStream: typeof import("node:fs").createReadStream;
  const createWriteStream: typeof import("node:fs").createWriteStream;
  const pipeline: typeof import("node:stream/promises").pipeline;
  const expect: typeof import("vitest").expect;
}
