import { type BatchObservableCallback, createNoopMeter, metrics, type Observable } from "@opentelemetry/api";
import { catalogue, type HistogramName, type Readings, type ValueName } from "./catalogue.ts";
import type { Mirror } from "./meters.ts";

/** OpenTelemetry as it was set up when this Pawl was created. */
export interface OtelMetrics {
  readonly mirror: Mirror;
  /** Exposes the counters, and the gauges of the database, on each collection. Returns a function that ends that. */
  observe(read: () => Promise<Readings["values"]>): () => void;
}

/** Undefined while no meter provider is set up: then nothing is recorded, at no cost. */
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

/** Metric names in OpenTelemetry have dots, and a separate unit. */
function otelName(name: string): string {
  return `pawl.${name.replace(/_(?:seconds|tasks)$/, "").replaceAll("_", ".")}`;
}
