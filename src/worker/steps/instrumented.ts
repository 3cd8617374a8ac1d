import type { Kernel } from "../../kernel/kernel.ts";
import { reportEach, type Unwritten } from "../../kernel/tasks/report.ts";
import type { Taken } from "../../kernel/types/claimed-task.ts";
import type { Outcome, Report, Reported } from "../../kernel/types/outcome.ts";
import { markFailed, type Span } from "../../telemetry/tracing.ts";
import { type RunOptions, run } from "./run.ts";

/** Claims tasks, as one span and one batch. */
export async function takeObserved(kernel: Kernel, take: () => Promise<Taken[]>): Promise<Taken[]> {
  const { meters, tracing } = kernel.telemetry;
  const tell = (taken: readonly Taken[], span: Span) => span.setAttribute("pawl.tasks", taken.length);
  const taken = tracing.isOn ? await tracing.span("pawl.claim", {}, take, tell) : await take();
  if (taken.length > 0) meters.batch("claim", taken.length);
  return taken;
}

/** Reports tasks, as one span. */
export function reportObserved(kernel: Kernel, reports: readonly Report[]): Promise<(Reported | Unwritten)[]> {
  const { tracing } = kernel.telemetry;
  if (!tracing.isOn) return reportEach(kernel, reports);
  return tracing.span("pawl.report", { "pawl.tasks": reports.length }, () => reportEach(kernel, reports));
}

/** Runs a task, as a span where somebody traces. */
export function runObserved(kernel: Kernel, taken: Taken, options: RunOptions): Promise<Outcome> {
  return kernel.telemetry.tracing.isOn ? runTraced(kernel, taken, options) : run(kernel, taken, options);
}

/** Nothing that the instance holds goes into a span: who may see traces need not be who may see data. */
function runTraced(kernel: Kernel, taken: Taken, options: RunOptions): Promise<Outcome> {
  const attributes = {
    "pawl.lane": taken.lane,
    "pawl.lifecycle": taken.lifecycle.name,
    "pawl.state": taken.row.state,
    "pawl.attempt": taken.attempt,
    "pawl.instance": taken.row.id,
  };
  return kernel.telemetry.tracing.span(
    `pawl.${taken.kind}`,
    attributes,
    () => run(kernel, taken, options),
    (outcome, span) => {
      span.setAttribute("pawl.outcome", outcome.kind);
      if (outcome.kind === "event") span.setAttribute("pawl.event", outcome.event);
      if (outcome.kind === "failed") markFailed(span, outcome.error);
    },
  );
}
