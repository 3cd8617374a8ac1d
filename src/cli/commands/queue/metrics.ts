import type { Command } from "commander";
import type { MetricsResponse as Metrics } from "../../../http/contract.ts";
import type { Act } from "../../program.ts";
import { type Column, printJson, printTable, visible } from "../../show/terminal.ts";
import { reached } from "../reached.ts";

/** Of a queue, of one of its labelers, or of an hour. */
type MetricsResponse = Metrics & { readonly labeler?: string; readonly hour?: string };

interface Options {
  readonly labeler?: string;
  readonly by?: "labeler" | "hour";
  readonly from?: string;
  readonly to?: string;
}

export function addQueueMetrics(queue: Command, act: Act): void {
  queue
    .command("metrics")
    .description("show the metrics of a queue: assignments and their outcomes")
    .argument("<queue>")
    .option("--by <what>", "group by labeler or hour")
    .option("--labeler <id>", "only this labeler")
    .option("--from <moment>", "from the hour of this time: 2026-01-31T12:00:00Z")
    .option("--to <moment>", "up to this time")
    .action(
      act<Options>((context, options, name) => {
        const { terminal } = context;
        return reached(context, async (pawl) => {
          const metrics = (await pawl.call("queueMetrics", { queue: name, ...options })) as
            | MetricsResponse
            | MetricsResponse[];
          if (terminal.json) printJson(terminal, metrics);
          else printTable(terminal, [metrics].flat(), [...whose(options.by), ...columns]);
          return undefined;
        });
      }),
    );
}

function whose(by: Options["by"]): Column<MetricsResponse>[] {
  if (by === "labeler") return [{ title: "labeler", text: (one) => visible(one.labeler ?? "") }];
  return by === "hour" ? [{ title: "hour", text: (one) => one.hour ?? "" }] : [];
}

const number = (title: string, of: (one: MetricsResponse) => number): Column<MetricsResponse> => ({
  title,
  text: (one) => String(of(one)),
  alignRight: true,
});

const rate = (title: string, of: (one: MetricsResponse) => number | null): Column<MetricsResponse> => ({
  title,
  text: (one) => String(of(one) ?? ""),
  shown: (one, paint) => (of(one) === null ? paint.dim("–") : `${Math.round(of(one)! * 100)} %`),
  alignRight: true,
});

const mean = (title: string, of: (one: MetricsResponse) => number | null, unit = ""): Column<MetricsResponse> => ({
  title,
  text: (one) => String(of(one) ?? ""),
  shown: (one, paint) => (of(one) === null ? paint.dim("–") : `${Math.round(of(one)! * 10) / 10}${unit}`),
  alignRight: true,
});

const columns: readonly Column<MetricsResponse>[] = [
  number("total", (one) => one.total),
  number("pending", (one) => one.byStatus.pending),
  number("in progress", (one) => one.byStatus.in_progress),
  number("completed", (one) => one.byStatus.completed),
  number("expired", (one) => one.byStatus.expired),
  number("never started", (one) => one.expired.neverStarted),
  number("unfinished", (one) => one.expired.unfinished),
  number("released", (one) => one.expired.released),
  number("skipped", (one) => one.byStatus.skipped),
  rate("completion rate", (one) => one.completionRate),
  rate("expire rate", (one) => one.expireRate),
  rate("skip rate", (one) => one.skipRate),
  mean("time to complete", (one) => one.avgTimeToComplete, " s"),
  mean("attempts", (one) => one.avgAttempts),
  number("late", (one) => one.late),
  number("rejected", (one) => one.rejected),
  rate("gold", (one) => one.gold.accuracy),
];
