import type { Kernel } from "../../kernel/kernel.ts";
import { type FailedReport, reportEach } from "../../kernel/tasks/report.ts";
import type { ClaimedTask } from "../../kernel/types/claimed-task.ts";
import type { Outcome, Report, ReportResult } from "../../kernel/types/outcome.ts";
import { markFailed, type Span } from "../../telemetry/tracing.ts";
import { type RunOptions, run } from "./run.ts";

/** Claims tasks, as one span and one batch. */
export async function claimInstrumented(kernel: Kernel, take: () => Promise<ClaimedTask[]>): Promise<ClaimedTask[]> {
  const { meters, tracing } = kernel.telemetry;
  const countTasks = (tasks: readonly ClaimedTask[], span: Span) => span.setAttribute("pawl.tasks", tasks.length);
  const tasks = tracing.isOn ? await tracing.span("pawl.claim", {}, take, countTasks) : await take();
  if (tasks.length > 0) meters.batch("claim", tasks.length);
  return tasks;
}

/** Reports tasks, as one span. */
export function reportInstrumented(
  kernel: Kernel,
  reports: readonly Report[],
): Promise<(ReportResult | FailedReport)[]> {
  const { tracing } = kernel.telemetry;
  if (!tracing.isOn) return reportEach(kernel, reports);
  return tracing.span("pawl.report", { "pawl.tasks": reports.length }, () => reportEach(kernel, reports));
}

/** Runs a task, in a span if tracing is set up. */
export function runInstrumented(kernel: Kernel, task: ClaimedTask, options: RunOptions): Promise<Outcome> {
  return kernel.telemetry.tracing.isOn ? runTraced(kernel, task, options) : run(kernel, task, options);
}

/** Nothing that the instance holds goes into a span: who may see traces need not be who may see data. */
function runTraced(kernel: Kernel, task: ClaimedTask, options: RunOptions): Promise<Outcome> {
  const attributes = {
    "pawl.lane": task.lane,
    "pawl.lifecycle": task.lifecycle.name,
    "pawl.state": task.row.state,
    "pawl.attempt": task.attempt,
    "pawl.instance": task.row.id,
  };
  return kernel.telemetry.tracing.span(
    `pawl.${task.kind}`,
    attributes,
    () => run(kernel, task, options),
    (outcome, span) => {
      span.setAttribute("pawl.outcome", outcome.kind);
      if (outcome.kind === "event") span.setAttribute("pawl.event", outcome.event);
      if (outcome.kind === "failed") markFailed(span, outcome.error);
    },
  );
}
