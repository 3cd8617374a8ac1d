/**
 * What every system's child process runs: one line of JSON in, one workload, one line of JSON out. Two more lines mark
 * the timed part, in which the parent measures the server. The workloads are here and the same for all; an adapter says
 * only how its system stores, runs and counts.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

export type Kind = "chain" | "single" | "latency";
export type Workload = "chain" | "jobs" | "bulk" | "enqueue" | "latency" | "latency-apart";

export interface Request {
  readonly workload: Workload;
  readonly count: number;
  readonly url: string;
}

export interface Answer {
  /** Of the timed part. */
  readonly seconds?: number;
  /** Steps, jobs or inserts a second. */
  readonly rate?: number;
  /** Milliseconds from the call that enqueues to the start of the handler. */
  readonly p50?: number;
  readonly p99?: number;
  /** What an item took in the timed part, on average. */
  readonly cost?: Cost;
  readonly error?: string;
}

/** Of one step, job or insert. */
interface Cost {
  /** Microseconds of a processor, in the process of the workers and in the server. */
  readonly processUs: number;
  readonly serverUs?: number;
  /** What PostgreSQL wrote ahead. */
  readonly walBytes?: number;
  /** The most memory that the process had, in MB. */
  readonly memoryMb: number;
}

/** The lines that mark the timed part. */
export const marks = { begin: "bench: begin", end: "bench: end" };

export interface Adapter {
  /** Makes the schema and connects. A producer of another process opens too, without ever calling `work`. */
  open(url: string, kind: Kind): Promise<void>;
  /** Stores `count` items of this kind by the fastest documented way; numbers them 0, 1, … as `n`. */
  fill(count: number): Promise<void>;
  /** Stores one item that carries `at`, a moment. */
  send(at: number): Promise<unknown>;
  /** Starts to run them; every handler calls `ran` first, with the `at` of its item where it has one. */
  work(ran: (at?: number) => void): Promise<void>;
  /** How many items are stored and not yet finished, as the system's store has it, not this process. */
  left(): Promise<number>;
  close(): Promise<void>;
}

export const chainLength = 5;
const clients = 32;
const everyMs = 20;
const messages = 250;
/** The first ones pay for plans, connections and compilers: so many calls, and so much more of what is run or stored. */
const warmUp = 25;
const coldShare = 0.25;

/** The moment on the clock that all processes of this machine share, in milliseconds with fractions. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

export async function serve(adapter: Adapter): Promise<void> {
  if (process.argv[2] === "produce") return produce(adapter, process.argv[3]!);
  const [line] = (await once(createInterface({ input: process.stdin }), "line")) as [string];
  let answer: Answer;
  const alive = setInterval(() => {}, 1_000); // A library that waits for what does not keep Node alive would end us.
  try {
    answer = await perform(adapter, JSON.parse(line) as Request);
    await adapter.close();
  } catch (error) {
    answer = { error: error instanceof Error ? error.message : String(error) };
  }
  clearInterval(alive);
  process.stdout.write(`\n${JSON.stringify(answer)}\n`, () => process.exit(0));
}

async function perform(adapter: Adapter, { workload, count, url }: Request): Promise<Answer> {
  const kind = workload === "chain" ? "chain" : workload.startsWith("latency") ? "latency" : "single";
  await adapter.open(url, kind);
  if (workload === "chain") return drain(adapter, count, chainLength);
  if (workload === "jobs") return drain(adapter, count, 1);
  if (workload === "bulk") return store(adapter, count, (many) => adapter.fill(many));
  if (workload === "enqueue") return store(adapter, Math.ceil(count / 4), (many) => sendFromClients(adapter, many));
  return latency(adapter, workload === "latency" ? () => sendSlowly(adapter) : () => sendFromElsewhere(url));
}

/**
 * Runs what was stored before, until the store itself says that all of it is finished. The clock starts when the first
 * ones have been run, with a process that is warm, as that of a worker is all day long.
 */
async function drain(adapter: Adapter, count: number, steps: number): Promise<Answer> {
  const all = count + Math.floor(count * coldShare);
  await adapter.fill(all);
  const stored = await adapter.left();
  if (stored !== all) throw new Error(`${stored} of ${all} items were stored`);
  const cold = Math.floor(count * coldShare) * steps;
  let runs = 0;
  let began = nothingTimed;
  await adapter.work(() => {
    if (runs === cold) began = beginTimed();
    runs += 1;
  });
  await until(() => runs >= all * steps);
  await until(async () => (await adapter.left()) === 0);
  const answer = rateOf(all * steps - cold, began);
  if (runs !== all * steps) throw new Error(`${runs} runs instead of ${all * steps}`);
  return answer;
}

async function store(adapter: Adapter, count: number, work: (many: number) => Promise<unknown>): Promise<Answer> {
  const cold = Math.floor(count * coldShare);
  await work(cold);
  const began = beginTimed();
  await work(count);
  const answer = rateOf(count, began);
  const stored = await adapter.left();
  if (stored !== cold + count) throw new Error(`${stored} of ${cold + count} items were stored`);
  return answer;
}

async function sendFromClients(adapter: Adapter, count: number): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next++ < count) await adapter.send(0);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function latency(adapter: Adapter, produceAll: () => Promise<unknown>): Promise<Answer> {
  const delays: number[] = [];
  await adapter.work((at) => {
    delays.push(now() - at!);
  });
  await pause(1_000); // At rest, as a worker at low load is.
  await produceAll();
  await until(() => delays.length >= messages);
  const sorted = delays.slice(warmUp).sort((one, other) => one - other);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { p50: at(0.5), p99: at(0.99) };
}

/** On the beat, whether or not the call before has come back. */
async function sendSlowly(adapter: Adapter): Promise<void> {
  const calls: Promise<unknown>[] = [];
  for (let sent = 0; sent < messages; sent++) {
    calls.push(adapter.send(now()));
    await pause(everyMs);
  }
  await Promise.all(calls);
}

async function sendFromElsewhere(url: string): Promise<void> {
  // Its standard output is not ours: there is one answer, and it is not the producer's.
  const child = fork(process.argv[1]!, ["produce", url], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error("the producer in another process failed");
}

async function produce(adapter: Adapter, url: string): Promise<void> {
  await adapter.open(url, "latency");
  await sendSlowly(adapter);
  await adapter.close();
  process.exit(0);
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}

/** When the timed part began, and the processor's time of this process then. */
interface Timed {
  readonly at: number;
  readonly cpu: NodeJS.CpuUsage;
}

const nothingTimed: Timed = { at: 0, cpu: { user: 0, system: 0 } };

function beginTimed(): Timed {
  process.stdout.write(`${marks.begin}\n`);
  return { at: performance.now(), cpu: process.cpuUsage() };
}

function rateOf(count: number, began: Timed): Answer {
  const seconds = (performance.now() - began.at) / 1_000;
  const { user, system } = process.cpuUsage(began.cpu);
  process.stdout.write(`${marks.end}\n`);
  const memoryMb = process.resourceUsage().maxRSS / 1_024;
  return { seconds, rate: count / seconds, cost: { processUs: (user + system) / count, memoryMb } };
}

/** Calls `work` with 0, 1, … in slices of at most `size`. */
export async function inSlices(count: number, size: number, work: (numbers: number[]) => Promise<unknown>) {
  for (let at = 0; at < count; at += size) {
    await work(Array.from({ length: Math.min(size, count - at) }, (_, index) => at + index));
  }
}
