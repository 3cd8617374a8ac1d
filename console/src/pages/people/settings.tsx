import type { QueueResponse } from "../../../../src/http/contract.ts";
import { Facts } from "../../parts/facts.tsx";
import { JsonView } from "../../parts/json.tsx";
import { Length, Time } from "../../parts/time.tsx";

/** The settings of a queue, and its form. */
export function Settings({ queue }: { readonly queue: QueueResponse }) {
  const { agreement } = queue;
  return (
    <div class="panel">
      <Facts
        facts={[
          ["Declared", queue.source === "code" ? "in code" : "at run time"],
          ["Labels each", queue.overlap],
          ["Until agreed", agreement === null ? undefined : `${agreement.atLeast} or ${agreement.maxOverlap} labels`],
          ["Review", queue.review ? "a lead reviews every label" : "labels are used immediately"],
          ["Who", queue.labelers === null ? "anyone" : queue.labelers.join(", ")],
          ["Skills", queue.skills.length === 0 ? undefined : queue.skills.join(", ")],
          ["Order", queue.order],
          ["At once", queue.concurrency],
          ["Start within", <Length key="start" ms={queue.startWithinMs} />],
          ["Finish within", <Length key="finish" ms={queue.finishWithinMs} />],
          ["Tries", `${queue.maxAttemptsPerLabeler} per labeler, ${queue.maxAttemptsTotal} in total`],
          ["Made", <Time key="made" at={queue.createdAt} />],
        ]}
      />
      <h2>Label schema</h2>
      <JsonView value={queue.labelSchema} name="form" />
    </div>
  );
}
