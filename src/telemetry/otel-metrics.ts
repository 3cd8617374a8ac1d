import { type BatchObservableCallback, createNoopMeter, metrics, type Observable } from "@opentelemetry/api";
import { catalogue, type HistogramName, type Readings, type ValueName } from "./catalogue.ts";
import type { Mirror } from "./meters.ts";

/** OpenTelemetry as it was set up when this Pawl was created. */
export interface OtelMetrics {
  readonly mirror: Mirror;
  /** Lets it read what is counted here, and what the database tells, whenever it collects. Gives back how to end that. */
  observe(read: () => Promise<Readings["values"]>): () => void;
}

/** Undefined while nobody has set up a provider of meters: then nothing is mirrored, and it costs nothing. */
export function otelMetrics(): OtelMetrics | undefined {
  const meter = metrics.getMeter("pawl");
  if (meter === createNoopMeter()) return undefined;
  const histogram = (name: HistogramName, unit: string) =>
    meter.createHistogram(otelName(name), { description: catalogue[name].help, unit });
  const durations = histogram("step_duration_seconds", "s");
  const batches = {
    claim: histogram("claim_batch_tasks", "{task}"),
    report: histogram("report_batch_tasks", "{task}"),
  };
  return {
    mirror: {
      duration(lane) {
        const attributes = { lane };
        return (seconds) => durations.record(seconds, attributes);
      },
      batch: (what, tasks) => batches[what].record(tasks),
    },
    observe(read) {
      const observables = new Map<ValueName, Observable>();
      for (const [name, { kind, help }] of Object.entries(catalogue)) {
        if (kind === "histogram") continue;
        const options = { description: help };
        const made =
          kind === "counter"
            ? meter.createObservableCounter(otelName(name), options)
            : meter.createObservableGauge(otelName(name), options);
        observables.set(name as ValueName, made);
      }
      const collect: BatchObservableCallback = async (result) => {
        for (const [name, samples] of Object.entries(await read())) {
          for (const { labels, value } of samples) result.observe(observables.get(name as ValueName)!, value, labels);
        }
      };
      const all = [...observables.values()];
      meter.addBatchObservableCallback(collect, all);
      return () => meter.removeBatchObservableCallback(collect, all);
    },
  };
}

/** Its names have dots, and the unit beside them. */
function otelName(name: string): string {
  return `pawl.${name.replace(/_(?:seconds|tasks)$/, "").replaceAll("_", ".")}`;
}
