import type { Readings } from "./catalogue.ts";
import { type Log, type LogOption, makeLog } from "./log.ts";
import { Meters } from "./meters.ts";
import { otelMetrics } from "./otel-metrics.ts";
import { Tracing } from "./tracing.ts";

/** The telemetry of a Pawl: its log, its metrics, its spans. Created first, and passed to all parts that use it. */
export interface Telemetry {
  readonly log: Log;
  readonly meters: Meters;
  readonly tracing: Tracing;
  /** Exposes gauges to OpenTelemetry, where it is set up. Returns a function that ends that. */
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
