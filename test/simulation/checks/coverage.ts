import { type Db, sql } from "../../../src/store/port/db.ts";

/** What a run can have at work, and by which of its notes that is known. */
const features: Readonly<Record<string, readonly string[]>> = {
  work: ["work"],
  once: ["once", "once for the instance"],
  "idempotency key": ["effect"],
  progress: ["progress"],
  outbox: ["publish"],
  "step send": ["send"],
  "breaker call": ["breaker call"],
  children: ["joined"],
  ask: ["answered", "unanswered"],
  label: ["assignment"],
  release: ["released"],
  timeout: ["timed out"],
  deadline: ["deadline passed"],
  "late result": ["late result accepted"],
  recovery: ["recovered"],
  reset: ["reset"],
  retry: ["failed"],
  "dead letter": ["letter"],
  child: ["is a child"],
  callback: ["called back"],
  guard: ["guard"],
  before: ["before"],
  after: ["after"],
  tx: ["tx", "send: tx"],
  "repeated call": ["send: key"],
  "delayed send": ["send: delay"],
  "calls together": ["send: together"],
  "built-in event": ["built in"],
  rollback: ["send: rollback"],
  limit: ["limit"],
  rate: ["rate"],
  "uses breaker": ["uses"],
  pause: ["pause"],
  "forced breaker": ["breaker"],
  schedule: ["run schedule", "ticked"],
  versions: ["moved by a newer version"],
  prune: ["pruned"],
  "odd hooks": ["odd hooks"],
  "poisoned code": ["poisoned code"],
  "stuck and explained": [
    "stuck: dead_letter",
    "stuck: release_refused",
    "stuck: event_refused",
    "stuck: result_unmatched",
  ],
  "hanging code": ["user code: hangs", "user code: deaf"],
  nonsense: ["user code: nonsense"],
  "time jump": ["jump"],
  kill: ["kill", "killed before", "killed after", "point: kill"],
  stop: ["stop"],
  "lost lease": ["lapsed"],
  "lost reply": ["lost reply", "lost request", "point: lose"],
  outage: ["outage"],
  "clock jump": ["clock"],
};

/** Pairs that no instance can meet, and why. */
const senseless: readonly { readonly one: string; readonly others: readonly string[]; readonly why: string }[] = [
  {
    one: "child",
    others: ["tx", "repeated call", "delayed send", "calls together", "built-in event", "rollback", "late result"],
    why: "callers name instances by their keys, and a child has none that is its own",
  },
  { one: "child", others: ["children", "callback"], why: "families of three generations have tests of their own" },
  { one: "child", others: ["reset"], why: "its recovery is the same as that of any other instance" },
  { one: "child", others: ["prune"], why: "it is noted by the name that a caller gave" },
  { one: "stuck and explained", others: ["prune"], why: "what is stuck in the end has not ended, and stays" },
];

function isSenseless(one: string, other: string): boolean {
  return senseless.some(
    (pair) => (pair.one === one && pair.others.includes(other)) || (pair.one === other && pair.others.includes(one)),
  );
}

/** What the tables tell of what was at work, for which instance; all, where it is about none. */
export async function seenInTables(db: Db): Promise<{ readonly feature: string; readonly name: string | undefined }[]> {
  const rows = await db.rows<{ feature: string | null; name: string | null }>(sql`
    select distinct case
      when move.event in ('joined', 'answered', 'unanswered') then move.event
      when move.event = 'recover' then 'recovered'
      when move.event = 'accept_late' then 'late result accepted'
      when move.source = 'timer' and move.reason = 'release' then 'released'
      when move.source = 'timer' and move.reason = 'timeout' then 'timed out'
      when move.source = 'timer' and move.reason = 'deadline' then 'deadline passed'
      when move.source = 'callback' then 'called back'
    end as feature, instance.data ->> 'name' as name
    from pawl.journal as move join pawl.instances as instance on instance.id = move.instance_id
    union
    select 'moved by a newer version', instance.data ->> 'name'
    from pawl.journal as move join pawl.instances as instance on instance.id = move.instance_id where move.definition > 1
    union
    select case attempt.what when 'lapsed' then 'lapsed' else 'failed' end, instance.data ->> 'name'
    from pawl.attempts as attempt join pawl.instances as instance on instance.id = attempt.instance_id
    where attempt.what in ('lapsed', 'failed')
    union
    select 'letter', instance.data ->> 'name'
    from pawl.dead_letters as letter join pawl.instances as instance on instance.id = letter.instance_id
    union
    select 'is a child', data ->> 'name' from pawl.instances where lifecycle = 'child'
    union
    select 'ticked', null from pawl.instances where lifecycle = 'canary' and key like '%pulse%'`);
  return rows.flatMap(({ feature, name }) => (feature === null ? [] : [{ feature, name: name ?? undefined }]));
}

/** In how many runs each two features were at work for one and the same instance. */
export class Coverage {
  readonly #runs = new Map<string, number>();
  readonly names = Object.keys(features);

  add(met: readonly ReadonlySet<string>[]): void {
    const pairs = new Set<string>();
    for (const used of met) {
      const present = this.names.filter((name) => features[name]!.some((note) => used.has(note)));
      for (const one of present) for (const other of present) pairs.add(`${one}|${other}`);
    }
    for (const pair of pairs) this.#runs.set(pair, (this.#runs.get(pair) ?? 0) + 1);
  }

  runsWith(one: string, other: string): number {
    return this.#runs.get(`${one}|${other}`) ?? 0;
  }

  /** Pairs that make sense, and that no instance has met. */
  get missing(): string[] {
    return this.names.flatMap((one, at) =>
      this.names
        .slice(at)
        .flatMap((other) => (this.runsWith(one, other) === 0 && !isSenseless(one, other) ? [`${one} × ${other}`] : [])),
    );
  }

  /** The table as text, a column for each row's number: runs, or a dash where a pair makes no sense. */
  toString(): string {
    const width = Math.max(...this.names.map((name) => name.length)) + 4;
    const head = " ".repeat(width) + this.names.map((_, at) => String(at + 1).padStart(4)).join("");
    const lines = this.names.map((one, at) => {
      const cells = this.names.map((other) =>
        (isSenseless(one, other) ? "–" : String(this.runsWith(one, other) || "·")).padStart(4),
      );
      return `${String(at + 1).padStart(2)}. ${one}`.padEnd(width) + cells.join("");
    });
    return [head, ...lines].join("\n");
  }
}
