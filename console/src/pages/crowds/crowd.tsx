import { get } from "../../api.ts";
import { useDialog } from "../../dialogs.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { useFilters } from "../../url.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { Crumb } from "../crumb.tsx";
import { among, Ribbon } from "./crowds.tsx";
import { Jobs } from "./jobs.tsx";
import { Submissions } from "./submissions.tsx";
import "../operating.css";

/** One crowd: its submissions and its jobs. */
export function Crowd({ name }: { readonly name: string }) {
  const [filters] = useFilters();
  const [dialog, open] = useDialog();
  const { answer, error, again } = useRequest(() => get("/crowds"), [name]);
  usePolling(again);
  const crowd = answer?.find((one) => one.name === name);
  const at = filters.get("tab") ?? "submissions";
  const waiting = crowd === undefined ? undefined : among(crowd.submissions, "pending_approval", "errored");
  const tabs = [
    { id: "submissions", name: "Submissions", count: waiting },
    { id: "jobs", name: "Jobs" },
  ];
  return (
    <section>
      <Crumb href="/crowds" name="Crowds" />
      <div class="head">
        <h1>{name}</h1>
        {crowd?.sandbox === true && <Ribbon />}
        {crowd !== undefined && <span class="quiet">asked on {crowd.title}</span>}
      </div>
      <ErrorMessage error={error} />
      <Tabs name={name} tabs={tabs} at={at} />
      {at === "submissions" && <Submissions crowd={name} paysBonuses={crowd?.paysBonuses === true} open={open} />}
      {at === "jobs" && <Jobs crowd={name} open={open} />}
      {dialog}
    </section>
  );
}
