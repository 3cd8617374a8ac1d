import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { type Broker, type DeadLetterSource, isPawlError } from "pawl";
import { type CallbackReceiver, consumeCallbacks, deadLetterQueue, type ReadCallback, rabbitmq } from "pawl/rabbitmq";
import { memoryBroker } from "pawl/testing";
import { type Deed, Grader, GradingRequest, type Trouble } from "./grader/grader.ts";
import { grading } from "./topology.ts";

/** The receiver of callbacks, and of news. */
interface Correspondent {
  readonly pawl: CallbackReceiver;
  /** Reads a callback, and throws when it is none. */
  read(json: unknown): ReadCallback;
  deed(deed: Deed, submissionId: string): void;
}

/** The connection between the submissions and their grader, and the grader itself. */
export interface Exchange {
  /** Where requests are put by the outbox. */
  readonly broker: Broker;
  /** The queue of unusable callbacks. */
  readonly deadLetters: DeadLetterSource;
  /** How many requests the grader is working on. */
  readonly openRequests: number;
  readonly isUp: boolean;
  /** Starts to receive callbacks. */
  open(correspondent: Correspondent): Promise<void>;
  startGrader(trouble: Trouble): Promise<void>;
  be(trouble: Trouble): void;
  /** Kills the grader; returns how many requests it was working on. */
  killGrader(): Promise<number>;
  close(): Promise<void>;
}

interface Pace {
  readonly minuteMs: number;
  readonly seed: number;
}

/** Over RabbitMQ, with the grader as a process of its own. */
export function overRabbitmq(url: string, { minuteMs, seed }: Pace): Exchange {
  const stops: (() => Promise<void>)[] = [];
  const taken = new Set<string>();
  let told: Correspondent | undefined;
  let child: ChildProcess | undefined;
  const hear = ({ deed, submissionId }: { deed?: Deed; submissionId: string }) => {
    if (deed === undefined) return;
    if (deed === "took") taken.add(submissionId);
    else if (deed !== "was told to wait") taken.delete(submissionId);
    told?.deed(deed, submissionId);
  };
  const kill = async (): Promise<number> => {
    const grader = child;
    if (grader === undefined) return 0;
    child = undefined;
    const gone = new Promise((resolve) => grader.once("exit", resolve));
    grader.kill("SIGKILL");
    await gone;
    const held = taken.size;
    taken.clear();
    return held;
  };
  return {
    broker: rabbitmq({ url, ...grading }),
    deadLetters: deadLetterQueue({ url, queue: "grading.dlq", topology: grading.topology }),
    get openRequests() {
      return taken.size;
    },
    get isUp() {
      return child !== undefined;
    },
    async open(correspondent) {
      told = correspondent;
      const callbacks = consumeCallbacks(correspondent.pawl, {
        url,
        queue: "grading.callback",
        topology: grading.topology,
        read: ({ json }) => correspondent.read(json),
      });
      stops.push(() => callbacks.stop());
      await callbacks.ready;
    },
    async startGrader(trouble) {
      const file = fileURLToPath(new URL("grader/process.ts", import.meta.url));
      const grader = fork(file, [url, String(minuteMs), String(seed)], {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      child = grader;
      grader.on("message", hear);
      await new Promise<void>((resolve, reject) => {
        grader.on("message", (message: { ready?: boolean }) => message.ready === true && resolve());
        grader.once("exit", (code) => reject(new Error(`The grader ended with ${code}.`)));
      });
      grader.send({ trouble });
    },
    be: (trouble) => void child?.send({ trouble }),
    killGrader: kill,
    async close() {
      await kill();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/** Within this process: its requests are lost with it. */
export function inMemory(pace: Pace): Exchange {
  const broker = memoryBroker();
  const requests = new Map<string, GradingRequest>();
  const taken = new Set<string>();
  let told: Correspondent | undefined;
  let grader: Grader | undefined;
  let bury: Bury = async () => {};
  const grade = (request: GradingRequest): void => {
    const by = grader;
    if (by === undefined || taken.has(request.requestId)) return;
    taken.add(request.requestId);
    by.grade(request).then(
      () => {
        taken.delete(request.requestId);
        requests.delete(request.requestId);
      },
      () => {}, // It was killed; the next one gets the request.
    );
  };
  broker.on("grading.request", ({ body }) => {
    const request = GradingRequest.parse(JSON.parse(body));
    requests.set(request.requestId, request);
    grade(request);
  });
  return {
    broker,
    deadLetters: {
      name: "memory/grading.dlq",
      open({ keep }) {
        bury = keep;
        return { stop: async () => {} };
      },
    },
    get openRequests() {
      return taken.size;
    },
    get isUp() {
      return grader !== undefined;
    },
    async open(correspondent) {
      told = correspondent;
    },
    async startGrader(trouble) {
      grader = new Grader({
        ...pace,
        onDeed: (deed, submissionId) => told?.deed(deed, submissionId),
        send: (callback) => deliver(callback, told!, bury),
      });
      grader.trouble = trouble;
      for (const request of requests.values()) grade(request);
    },
    be(trouble) {
      if (grader !== undefined) grader.trouble = trouble;
    },
    async killGrader() {
      grader?.vanish();
      grader = undefined;
      const held = taken.size;
      taken.clear();
      return held;
    },
    async close() {
      await this.killGrader();
    },
  };
}

type Bury = Parameters<DeadLetterSource["open"]>[0]["keep"];

/** The result of `consumeCallbacks` for a message: unusable ones are put aside. */
async function deliver(callback: Readonly<Record<string, unknown>>, to: Correspondent, bury: Bury): Promise<void> {
  const { pawl } = to;
  const said = to.read(callback) as Extract<ReadCallback, { lifecycle: unknown }>;
  const { lifecycle, instance, event, payload, error, actor, dedupeKey = "" } = said;
  try {
    if (error === undefined) await pawl.receive(lifecycle, instance, event, payload, { dedupeKey, actor });
    else await pawl.callbacks.receiveError(lifecycle, instance, event, error, { dedupeKey, actor });
  } catch (thrown) {
    if (!isPawlError(thrown)) throw thrown;
    await bury({
      broker: "memory",
      graveyard: "grading.dlq",
      id: randomUUID(),
      reason: "rejected",
      queue: "grading.callback",
      exchange: undefined,
      routingKey: "grading.callback",
      deaths: 1,
      diedAt: new Date(),
      headers: { "aggregate-type": "submission", "aggregate-id": callback.submissionId },
      properties: {},
      body: Buffer.from(JSON.stringify(callback)),
      redelivered: false,
    });
  }
}
