import { canInstall, install } from "./apt.ts";
import { chromium } from "./chromium.ts";
import { OnDemand } from "./on-demand.ts";
import { pgbouncer } from "./pgbouncer.ts";
import { postgres } from "./postgres.ts";
import { rabbitmq } from "./rabbitmq.ts";
import type { RunningService, Service, Start } from "./service.ts";

/** In the order in which they start: a later one may stand on an earlier one. */
const services: readonly Service[] = [postgres, pgbouncer, rabbitmq, chromium];

export interface Services {
  readonly about: readonly string[];
  /** The environment for the tests. */
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** Starts what there is. What is missing is said in a line; on CI a required one that is missing ends the run. */
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
    for (const service of services) {
      if (service.needs.some((name) => env[name] === undefined)) continue;
      const start = await find(service, options);
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

async function find(
  service: Service,
  options: { mayInstall: boolean; say(line: string): void },
): Promise<Start | undefined> {
  if (isLeftOut(service)) return undefined;
  const found = await service.find();
  if (found !== undefined || !options.mayInstall || !canInstall()) return found;
  options.say(`${service.name} is missing: installing it with apt.`);
  return (await install(service.packages)) ? service.find() : undefined;
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
