import type { QueueStatsResponse } from "../../../../src/http/contract.ts";
import { get, part, post } from "../../api.ts";
import { useDialog } from "../../dialogs.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { count, Tile } from "../../parts/tile.tsx";
import { runAction } from "../../run-action.ts";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { Crumb } from "../crumb.tsx";
import { exportLabels } from "./export.ts";
import { Labelers } from "./labelers.tsx";
import { Labels } from "./labels.tsx";
import { OpenAssignments } from "./open-assignments.tsx";
import { Samples } from "./samples.tsx";
import { Settings } from "./settings.tsx";
import { percent, seconds } from "./shares.tsx";
import "../operating.css";

/** One queue: its samples, its labelers, and their quality. */
export function Queue({ name }: { readonly name: string }) {
  const [filters] = useFilters();
  const [dialog, open] = useDialog();
  const queue = useRequest(() => get(`/queues/${part(name)}`), [name]);
  const loads = useRequest(() => get("/queue-stats"), [name]);
  usePolling(async () => {
    await Promise.all([queue.again(), loads.again()]);
  });
  const reviews = queue.answer?.review ?? false;
  const load = loads.answer?.find((one) => one.queue === name);
  const at = filters.get("tab") ?? "samples";
  const activate = () =>
    runAction(async () => {
      await post(`/queues/${part(name)}/activate`);
      await queue.again();
    }, `${name} is active.`);
  const deactivate = () =>
    runAction(async () => {
      await post(`/queues/${part(name)}/deactivate`);
      await queue.again();
    }, `${name} is inactive.`);
  const tabs = [
    { id: "samples", name: "Samples" },
    { id: "assigned", name: "Assigned", count: load?.assigned },
    { id: "labels", name: "Labels" },
    { id: "late", name: "Late", count: load?.late },
    { id: "labelers", name: "Labelers" },
    { id: "settings", name: "Settings" },
  ];
  return (
    <section>
      <Crumb href="/people" name="People" />
      <div class="head">
        <h1>{name}</h1>
        {queue.answer !== undefined && (
          <StatePill state={queue.answer.active ? "active" : "inactive"} tone={queue.answer.active ? "good" : "warn"} />
        )}
        <span class="grow" />
        {may("label") && (
          <a class="button" href={`desk/${part(name)}`}>
            Open the desk
          </a>
        )}
        <button type="button" onClick={() => void runAction(() => exportLabels(name), "Labels exported.")}>
          Export labels
        </button>
        {may("operate") && queue.answer?.active === true && (
          <button type="button" onClick={() => void deactivate()}>
            Deactivate
          </button>
        )}
        {may("operate") && queue.answer?.active === false && (
          <button type="button" class="primary" onClick={() => void activate()}>
            Activate
          </button>
        )}
      </div>
      <ErrorMessage error={queue.error ?? loads.error} />
      <Numbers load={load} />
      <Tabs name={name} tabs={tabs} at={at} />
      {at === "samples" && <Samples queue={name} reviews={reviews} open={open} />}
      {at === "assigned" && <OpenAssignments queue={name} open={open} />}
      {at === "labels" && queue.answer !== undefined && (
        <Labels key="labels" queue={name} reviews={reviews} late={false} open={open} />
      )}
      {at === "late" && <Labels key="late" queue={name} reviews={reviews} late open={open} />}
      {at === "labelers" && <Labelers queue={name} />}
      {at === "settings" && queue.answer !== undefined && <Settings queue={queue.answer} />}
      {dialog}
    </section>
  );
}

function Numbers({ load }: { readonly load: QueueStatsResponse | undefined }) {
  const metrics = load?.metrics;
  return (
    <div class="tiles">
      <Tile name="Labels needed" value={count(load?.waiting)} />
      <Tile name="Assigned" value={count(load?.assigned)} />
      <Tile name="Labeled" value={count(metrics?.byStatus.completed)} />
      <Tile name="Mean time" value={seconds(metrics?.avgTimeToComplete ?? null)} />
      <Tile
        name="Skipped"
        value={percent(metrics?.ofClosed.skipRate)}
        note={`${percent(metrics?.ofClosed.expireRate)} expired`}
      />
      <Tile name="Gold accuracy" value={percent(metrics?.gold.accuracy)} note={`of ${count(metrics?.gold.labels)}`} />
    </div>
  );
}
