import { canInstall, install } from "./apt.ts";
import { chromium } from "./chromium.ts";
import { OnDemand } from "./on-demand.ts";
import { pgbouncer } from "./pgbouncer.ts";
import { postgres } from "./postgres.ts";
import { rabbitmq } from "./rabbitmq.ts";
import type { RunningService, Service, Start } from "./service.ts";

/** In the order in which they start: a later one may depend on an earlier one. */
const services: readonly Service[] = [postgres, pgbouncer, rabbitmq, chromium];

export interface Services {
  readonly about: readonly string[];
  /** The environment for the tests. */
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/**
 * Starts the available services. A missing one is reported in a line; on CI a required one that is missing ends the
 * run.
 */
export async function startServices(options: { mayInstall: boolean; say(line: string): void }): Promise<Services> {
  const running: RunningService[] = [];
  const about: string[] = [];
  const onDemand = new OnDemand();
  const env: NodeJS.ProcessEnv = { ...process.env };
  async function stop(): Promise<void> {
    await onDemand.stop();
    for (const each of running.splice(0).toReversed()) await each.stop();
  }
  try {
    if (options.mayInstall) await installMissing((line) => options.say(line));
    for (const service of services) {
      if (service.needs.some((name) => env[name] === undefined)) continue;
      const start = await find(service);
      if (start === undefined) {
        options.say(missing(service));
        continue;
      }
      if (service.onDemand !== undefined) {
        env[service.onDemand] = await onDemand.offer(service.name, () => start(env));
        about.push(`${service.name}, started when a suite asks for it`);
        continue;
      }
      const started = await start(env);
      about.push(started.about);
      running.push(started);
      Object.assign(env, started.env);
      for (const [name, value] of Object.entries(started.env)) if (value === undefined) delete env[name];
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { about, env, stop };
}

async function find(service: Service): Promise<Start | undefined> {
  return isLeftOut(service) ? undefined : service.find();
}

/** All that is missing in one go; one by one when that fails, so that one which cannot be had keeps no other away. */
async function installMissing(say: (line: string) => void): Promise<void> {
  if (!canInstall()) return;
  const missing: Service[] = [];
  for (const service of services) {
    if (!isLeftOut(service) && (await service.find()) === undefined) missing.push(service);
  }
  if (missing.length === 0) return;
  say(`Missing, and installed with apt: ${missing.map((service) => service.name).join(", ")}.`);
  if (await install(missing.flatMap((service) => service.packages))) return;
  for (const service of missing) await install(service.packages);
}

/** `PAWL_TEST_WITHOUT=postgresql,pgbouncer` runs as on a machine that has neither. */
function isLeftOut(service: Service): boolean {
  const without = (process.env.PAWL_TEST_WITHOUT ?? "").toLowerCase().split(",");
  return without.includes(service.name.toLowerCase());
}

function missing(service: Service): string {
  const sentence = `${service.name} is missing: ${service.howToGet}`;
  if (service.required && process.env.CI === "true") throw new Error(`${sentence}.`);
  return `${sentence}; its suites are skipped.`;
}
