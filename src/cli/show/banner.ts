import { accessSync, constants } from "node:fs";
import { relative } from "node:path";
import type { DatabaseVersions } from "../../api/open/database.ts";
import type { Pawl } from "../../api/pawl.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { quoted } from "../arguments.ts";
import type { Context } from "../program.ts";
import { type Settings, shownLocation } from "../project/settings.ts";
import type { Holder } from "../transport/reach.ts";
import { pad, printJson, visible } from "./terminal.ts";

interface Running {
  readonly versions: DatabaseVersions | undefined;
  readonly socket: string | undefined;
  readonly http: string | undefined;
  /** Signs in once. */
  readonly signIn: string | undefined;
}

interface Declared {
  readonly lifecycle: AnyLifecycle;
  readonly counts: Readonly<Record<string, number | undefined>>;
}

/** Prints what runs and where, and what to try next. */
export async function printBanner(context: Context, settings: Settings, pawl: Pawl, running: Running): Promise<void> {
  const { terminal, version } = context;
  const declared: Declared[] = [];
  for (const lifecycle of pawl.lifecycles) declared.push({ lifecycle, counts: await pawl.inspect.counts(lifecycle) });
  if (terminal.json) {
    printJson(terminal, summaryOf(context, settings, declared, running));
    return;
  }
  const { bold, dim, green } = terminal.paint;
  const print = (title: string, text: string) => terminal.print(`  ${dim(pad(title, 10))}  ${text}`);
  const readyIn = `ready in ${(performance.now() / 1_000).toFixed(1)} s, pid ${process.pid}`;
  terminal.print(`\n  ${bold(`Pawl ${version}`)}  ${green("●")} ${dim(readyIn)}\n`);
  print("Database", `${kindOf(settings, running.versions)}  ${bold(placeOf(context, settings))}`);
  if (settings.database === undefined) print("", dim("one process only; set DATABASE_URL to use a PostgreSQL server"));
  if (running.signIn !== undefined) print("Console", `${bold(running.signIn)}  ${dim("signs you in, once")}`);
  if (running.http !== undefined)
    print("HTTP", `${bold(running.http)}  ${dim("/callbacks  /api  /docs  /desk  /health  /ready  /metrics")}`);
  const widest = Math.max(0, ...declared.map((one) => one.lifecycle.name.length));
  for (const [at, one] of declared.entries()) {
    const { name, version: number } = one.lifecycle;
    print(at === 0 ? "Lifecycles" : "", `${pad(bold(name), widest)}  ${dim(`version ${number}`)}  ${sum(one, dim)}`);
  }
  for (const [at, { queue, waiting }] of (await pawl.people.queueStats()).entries()) {
    print(
      at === 0 ? "Queues" : "",
      `${bold(queue)}  ${dim(waiting === 1 ? "1 label needed" : `${waiting} labels needed`)}`,
    );
  }
  terminal.print(`\n  ${dim("Try in another terminal:")}`);
  for (const command of await commandsToTry(context, pawl)) terminal.print(`    ${command}`);
  terminal.print(`\n  ${dim("Press Ctrl-C to stop. All data is kept.")}\n`);
}

/** The same for a program. */
function summaryOf(context: Context, settings: Settings, declared: readonly Declared[], running: Running): object {
  const kind = settings.database === undefined ? "pglite" : "postgres";
  const lifecycles = declared.map(({ lifecycle: { name, version }, counts }) => ({ name, version, counts }));
  return {
    version: context.version,
    pid: process.pid,
    database: { kind, place: placeOf(context, settings), ...running.versions },
    socket: running.socket ?? null,
    http: running.http ?? null,
    signIn: running.signIn ?? null,
    lifecycles,
  };
}

function kindOf(settings: Settings, versions: DatabaseVersions | undefined): string {
  if (settings.database !== undefined) return versions === undefined ? "PostgreSQL" : `PostgreSQL ${versions.postgres}`;
  return versions === undefined ? "embedded" : `embedded (PGlite ${versions.pglite}, Postgres ${versions.postgres})`;
}

/** As one would type it from here. */
function placeOf({ cwd }: Context, { database, folder }: Settings): string {
  if (database !== undefined) return shownLocation(database);
  const path = relative(cwd, `${folder}/db`);
  return path.startsWith("..") ? `${folder}/db` : `./${path}`;
}

function sum({ lifecycle, counts }: Declared, dim: (text: string) => string): string {
  const states = [...lifecycle.states.keys()].filter((state) => (counts[state] ?? 0) > 0);
  if (states.length === 0) return dim("no instances yet");
  return states.map((state) => `${state} ${counts[state]}`).join(dim(" · "));
}

/** Three commands that work as printed, for the existing instances. */
async function commandsToTry(context: Context, pawl: Pawl): Promise<string[]> {
  const flags = ["config", "folder"] as const;
  const named = flags.flatMap((flag) =>
    context.flags[flag] === undefined ? [] : [`--${flag} ${quoted(context.flags[flag])}`],
  );
  const command = (words: string) => [ownName(context.cwd), words, ...named].join(" ");
  const { lifecycles } = pawl;
  let isAsking = lifecycles.length === 0;
  for (const lifecycle of lifecycles) {
    for (const { key, state } of await pawl.list(lifecycle, { limit: 20 })) {
      // States that continue by a step or an answer are skipped.
      const kind = lifecycle.states.get(state)?.kind;
      isAsking ||= kind === "ask";
      if (key === null || kind === "ask" || kind === "work") continue;
      // One that a newer version moved is not ours to read: no reason to fail over an example.
      const event = await plainEvent(pawl, lifecycle, key).catch(() => undefined);
      if (event === undefined) continue;
      const which = `${lifecycle.name} ${quoted(visible(key))}`;
      const words = [`instance list ${lifecycle.name}`, `instance send ${which} ${event}`, `instance show ${which}`];
      return words.map(command);
    }
  }
  const [queue] = await pawl.people.queues();
  if (queue !== undefined && isAsking) {
    return [
      `queue show ${queue.name}`,
      `queue next ${queue.name} --labeler me --start`,
      `queue metrics ${queue.name} --by labeler`,
    ].map(command);
  }
  const [crowd] = pawl.crowd.list();
  if (crowd !== undefined && isAsking) {
    return ["crowd", `crowd ask ${crowd.name} --content '{…}'`, `crowd submissions ${crowd.name}`].map(command);
  }
  const name = lifecycles[0]?.name;
  if (name === undefined) return [command("check")];
  return [`diagram ${name}`, `instance start ${name} --key first --data '{…}'`, "status"].map(command);
}

/** An event that the instance takes just so: permitted, without payload, and not one of the built-in ones. */
async function plainEvent(pawl: Pawl, lifecycle: AnyLifecycle, key: string): Promise<string | undefined> {
  const permitted = await pawl.allowedEvents(lifecycle, key);
  const isOwn = (event: string) => lifecycle.edges.some((edge) => edge.event === event && !edge.builtIn);
  return permitted.find(({ event, permitted: may }) => may === "yes" && isOwn(event) && !lifecycle.events.has(event))
    ?.event;
}

/** By npx where that can run it; a fresh build of Pawl itself may lack the right to be run, and is called by its path. */
function ownName(cwd: string): string {
  const path = process.argv[1] ?? "pawl";
  try {
    accessSync(path, constants.X_OK);
    return "npx pawl";
  } catch {
    return `node ${quoted(relative(cwd, path))}`;
  }
}

/** A second start on the same folder: nothing to do, and no failure. */
export function printAlreadyRunning(context: Context, settings: Settings, { pid, socket }: Holder): void {
  const { terminal } = context;
  const place = placeOf(context, settings);
  if (terminal.json) {
    printJson(terminal, { alreadyRunning: true, pid, place, socket: socket ?? null });
    return;
  }
  terminal.print(`Pawl is already running on ${place}, pid ${pid}.`);
  const talk =
    socket === undefined
      ? "It does not accept commands from other terminals yet."
      : "Use it: pawl status. Open its console: pawl sign-in";
  terminal.print(terminal.paint.dim(talk));
}
