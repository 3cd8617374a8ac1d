import type { Readings } from "./catalogue.ts";
import { type Log, type LogOption, makeLog } from "./log.ts";
import { Meters } from "./meters.ts";
import { otelMetrics } from "./otel-metrics.ts";
import { Tracing } from "./tracing.ts";

/** What tells of a Pawl at work: its log, its numbers, its spans. Made before all else, and handed to whoever tells. */
export interface Telemetry {
  readonly log: Log;
  readonly meters: Meters;
  readonly tracing: Tracing;
  /** Lets OpenTelemetry, where it is set up, collect also what has to be read. Gives back how to end that. */
  observe(read: () => Promise<Readings>): () => void;
}

export async function makeTelemetry(logger: LogOption): Promise<Telemetry> {
  const log = await makeLog(logger);
  const otel = otelMetrics();
  return {
    log,
    meters: new Meters(otel?.mirror),
    tracing: new Tracing(),
    observe: (read) => otel?.observe(async () => (await read()).values) ?? (() => {}),
  };
}
