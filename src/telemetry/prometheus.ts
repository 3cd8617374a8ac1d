import { type Metric, Registry } from "prom-client";
import { catalogue, type Labels, type MetricName, type Readings, type Sample } from "./catalogue.ts";
import type { Histogram } from "./histogram.ts";

interface Line {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** The metrics in the text format of Prometheus. Every metric is listed, even without a value. */
export async function prometheusText({ values, histograms }: Readings): Promise<string> {
  const registry = new Registry();
  for (const [name, { kind, help }] of Object.entries(catalogue) as [MetricName, (typeof catalogue)[MetricName]][]) {
    const metricName = `pawl_${name}${kind === "counter" ? "_total" : ""}`;
    const lines =
      kind === "histogram"
        ? (histograms[name as keyof typeof histograms] ?? []).flatMap((sample) => histogramLines(metricName, sample))
        : (values[name as keyof typeof values] ?? []);
    const read = async () => ({ name: metricName, help, type: kind, values: lines });
    // The part of a metric that a registry reads: its name and its values.
    registry.registerMetric({ name: metricName, get: read } as unknown as Metric);
  }
  return registry.metrics();
}

function histogramLines(name: string, { labels, value: { bounds, counts, sum } }: Sample<Histogram>): Line[] {
  let below = 0;
  const buckets = [...bounds, "+Inf"].map((le, index) => {
    below += counts[index]!;
    return { metricName: `${name}_bucket`, labels: { ...labels, le } as Labels, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: below },
  ];
}
