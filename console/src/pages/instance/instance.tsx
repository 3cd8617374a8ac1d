import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type {
  AllowedEventResponse,
  ExplanationResponse,
  InstanceResponse,
  JournalResponse,
} from "../../../../src/http/contract.ts";
import { get, part } from "../../api.ts";
import { lifecycleNamed } from "../../lifecycles.ts";
import { watchInstance } from "../../live.ts";
import { Diagram } from "../../parts/diagram/diagram.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Id } from "../../parts/id.tsx";
import { JsonView } from "../../parts/json.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { useRefresh } from "../../use-refresh.ts";
import { useRequest } from "../../use-request.ts";
import { StartDialog } from "../instances/start-dialog.tsx";
import { AttemptsPanel } from "./attempts-panel.tsx";
import { Callbacks, LateResults } from "./callbacks.tsx";
import { Explanation } from "./explanation.tsx";
import { pathOf } from "./history.ts";
import { InstanceActions } from "./instance-actions.tsx";
import { Children } from "./instance-side.tsx";
import { Timeline } from "./timeline.tsx";
import "./instance.css";

interface InstanceUpdate {
  readonly instance: InstanceResponse;
  readonly journal: readonly JournalResponse[];
  readonly permitted: readonly AllowedEventResponse[];
  readonly explanation: ExplanationResponse;
  /** How far the clock of the database is ahead of the clock of the browser. */
  readonly aheadMs: number;
}

/** One instance: its state, why it does not move, what may be done, and its history. */
export function Instance({ id }: { readonly id: string }) {
  const path = `/instances/${part(id)}` as const;
  const { answer, error, again } = useRequest<InstanceUpdate>(async () => {
    const [instance, journal, permitted, explanation] = await Promise.all([
      get(path),
      get(`${path}/history`),
      get(`${path}/allowed-events`),
      get(`${path}/explain`),
    ]);
    return { instance, journal, permitted, explanation, aheadMs: Date.parse(explanation.at) - Date.now() };
  }, [path]);
  const version = answer?.instance.version ?? 0;
  // Known without being depended on: another stream for every move would miss the next one.
  const seen = useRef(version);
  seen.current = version;
  useEffect(() => watchInstance(id, (moved) => moved.version !== seen.current && void again()), [id]);
  useRefresh(again);
  if (answer === undefined || answer.instance.id !== id) {
    return (
      <section>
        <h1>Instance</h1>
        <ErrorMessage error={error} />
      </section>
    );
  }
  const { instance, journal, explanation, aheadMs } = answer;
  return (
    <section>
      <Head update={answer} onDone={() => void again()} />
      <ErrorMessage error={error} />
      <LateResults path={path} version={version} onAccepted={() => void again()} />
      <Explanation explanation={explanation} aheadMs={aheadMs} onDue={() => void again()} />
      <div class="instance">
        <div class="side">
          <Timeline journal={journal} />
          <AttemptsPanel journal={journal} aheadMs={aheadMs} />
        </div>
        <div class="side">
          <About instance={instance} />
          <section class="panel">
            <h2>Data</h2>
            <JsonView value={instance.data} name="the data" />
          </section>
          <InstancePath instance={instance} journal={journal} />
          <Children path={path} version={version} />
          <Callbacks path={path} version={version} />
        </div>
      </div>
    </section>
  );
}

function Head({ update, onDone }: { readonly update: InstanceUpdate; readonly onDone: () => void }) {
  const [copying, setCopying] = useState(false);
  const { instance, permitted } = update;
  const { key, lifecycle, state, outcome } = instance;
  return (
    <header class="head">
      <h1>{key ?? "Instance"}</h1>
      <StatePill state={state} outcome={outcome} />
      <span class="grow" />
      {may("send") && (
        <InstanceActions instance={instance} permitted={permitted} onDone={onDone} onCopy={() => setCopying(true)} />
      )}
      {copying && <StartDialog lifecycle={lifecycle} data={instance.data} onClose={() => setCopying(false)} />}
    </header>
  );
}

function About({ instance }: Pick<InstanceUpdate, "instance">) {
  const { id, lifecycle, version, definition, parent } = instance;
  return (
    <section class="panel" aria-label="About">
      <Facts
        facts={[
          ["Id", <Id key="id" id={id} whole />],
          ["Lifecycle", <LifecycleLink key="lifecycle" name={lifecycle} definition={definition} />],
          ["Moves", version],
          ["Started", <Time key="started" at={instance.createdAt} />],
          ["Moved", <Time key="moved" at={instance.movedAt} />],
          ...(instance.closedAt === null ? [] : [["Ended", <Time key="ended" at={instance.closedAt} />] as const]),
          ...(parent === null
            ? []
            : [["Child of", <Id key="of" id={parent.id} href={`/instances/${parent.id}`} />] as const]),
        ]}
      />
    </section>
  );
}

function LifecycleLink({ name, definition }: { readonly name: string; readonly definition: number }) {
  return (
    <>
      <Link href={`/lifecycles/${part(name)}`}>{name}</Link> <span class="quiet">version {definition}</span>
    </>
  );
}

/** The diagram of its lifecycle with the path that it took. */
function InstancePath({ instance, journal }: Pick<InstanceUpdate, "instance" | "journal">) {
  const { lifecycle, state } = instance;
  const walked = useMemo(() => pathOf(journal, state), [journal, state]);
  // Built-in transitions are drawn only if they were taken: they lead from everywhere to everywhere.
  const way = [...walked.ways].filter((one) => !one.startsWith(" "));
  const drawn = useRequest(
    () => get(`/lifecycles/${part(lifecycle)}/diagram`, { format: "svg", way }),
    [lifecycle, way.join()],
  );
  const states = lifecycleNamed(lifecycle)?.states;
  if (drawn.answer === undefined || states === undefined) return null;
  return <Diagram svg={drawn.answer} states={states} walked={walked} />;
}
