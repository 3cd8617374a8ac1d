import { type Db, sql } from "../../../src/store/port/db.ts";

/** What a run can have at work, and by which of its notes that is known. */
const features: Readonly<Record<string, readonly string[]>> = {
  work: ["work"],
  once: ["once", "once for the instance"],
  "idempotency key": ["effect"],
  progress: ["progress"],
  outbox: ["outbox"],
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
  "dead letter": ["letter: requeue", "letter: restart", "letter: discard"],
  callback: ["called back"],
  guard: ["guard"],
  before: ["before"],
  after: ["after"],
  tx: ["tx", "send: tx"],
  "repeated call": ["send: key"],
  "delayed send": ["send: delay"],
  "calls together": ["send: together"],
  "built-in event": ["built in"],
  limit: ["limit"],
  pause: ["pause"],
  "forced breaker": ["breaker"],
  schedule: ["run schedule", "ticked"],
  versions: ["moved by a newer version"],
  prune: ["pruned"],
  "odd hooks": ["odd hooks"],
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

/** What the tables tell of what was at work. */
export async function seenInTables(db: Db): Promise<string[]> {
  const rows = await db.rows<{ what: string | null }>(sql`
    select distinct case
      when event in ('joined', 'answered', 'unanswered') then event
      when event = 'recover' then 'recovered'
      when source = 'timer' and reason = 'release' then 'released'
      when source = 'timer' and reason = 'timeout' then 'timed out'
      when source = 'timer' and reason = 'deadline' then 'deadline passed'
      when source = 'callback' then 'called back'
      when definition > 1 then 'moved by a newer version'
    end as what from pawl.journal
    union select 'lapsed' from pawl.attempts where what = 'lapsed'
    union select 'ticked' from pawl.instances where lifecycle = 'canary' and key like '%pulse%'`);
  return rows.flatMap(({ what }) => what ?? []);
}

/** In how many runs each two features were at work together. */
export class Coverage {
  readonly #runs = new Map<string, number>();
  readonly names = Object.keys(features);

  add(used: ReadonlySet<string>): void {
    const present = this.names.filter((name) => features[name]!.some((note) => used.has(note)));
    for (const one of present)
      for (const other of present) this.#runs.set(`${one}|${other}`, this.runsWith(one, other) + 1);
  }

  runsWith(one: string, other: string): number {
    return this.#runs.get(`${one}|${other}`) ?? 0;
  }

  /** Pairs that no run has had. */
  get missing(): string[] {
    return this.names.flatMap((one, at) =>
      this.names.slice(at).flatMap((other) => (this.runsWith(one, other) === 0 ? [`${one} × ${other}`] : [])),
    );
  }

  /** The table as text, a column for each row's number. */
  toString(): string {
    const width = Math.max(...this.names.map((name) => name.length)) + 4;
    const head = " ".repeat(width) + this.names.map((_, at) => String(at + 1).padStart(4)).join("");
    const lines = this.names.map((one, at) => {
      const cells = this.names.map((other) => String(this.runsWith(one, other) || "·").padStart(4));
      return `${String(at + 1).padStart(2)}. ${one}`.padEnd(width) + cells.join("");
    });
    return [head, ...lines].join("\n");
  }
}
