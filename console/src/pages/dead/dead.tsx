import { get } from "../../api.ts";
import { useDialog } from "../../dialogs.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { count } from "../../parts/tile.tsx";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { Crumb } from "../crumb.tsx";
import { DecideMany } from "./decide-many.tsx";
import { Groups } from "./groups.tsx";
import { Letters } from "./letters.tsx";
import { Tickets } from "./tickets.tsx";
import "../operating.css";

const tabs = [
  { id: "groups", name: "Groups" },
  { id: "tickets", name: "Tickets" },
  { id: "decided", name: "Decided" },
];

/** Dead letters that wait for a decision. */
export function Dead() {
  const [filters, change] = useFilters();
  const [dialog, open] = useDialog();
  const at = filters.get("tab") ?? "groups";
  const status = filters.get("decided") ?? "requeued";
  return (
    <section>
      <h1>Dead letters</h1>
      <Tabs name="Dead letters" tabs={tabs} at={at} />
      {at === "tickets" && <Tickets open={open} />}
      {at === "decided" && (
        <>
          <Choice
            name="Status"
            value={status}
            choices={[
              ["requeued", "requeued"],
              ["discarded", "discarded"],
              ["archived", "archived"],
            ]}
            onChoose={(decided) => change({ decided, letter: "" })}
          />
          <Letters of={{ status }} open={open} empty={`No ${status} dead letters`} />
        </>
      )}
      {at === "groups" && <Groups open={open} />}
      {dialog}
    </section>
  );
}

/** The letters of one group, and decisions about all of them. */
export function DeadGroup({ fingerprint }: { readonly fingerprint: string }) {
  const [dialog, open] = useDialog();
  const { answer, again } = useRequest(() => get("/dead-letter-groups", { fingerprint }), [fingerprint]);
  usePolling(again);
  const group = answer?.[0];
  const decide = (decision: "requeue" | "discard") =>
    open((close) => <DecideMany decision={decision} which={{ fingerprint }} onClose={close} />);
  return (
    <section>
      <Crumb href="/dead" name="Dead letters" />
      <div class="head">
        <h1>{group?.pattern ?? "A group of dead letters"}</h1>
        <span class="grow" />
        {group !== undefined && may("operate") && (
          <>
            <button type="button" onClick={() => decide("requeue")}>
              Requeue the group…
            </button>
            <button type="button" onClick={() => decide("discard")}>
              Discard the group…
            </button>
          </>
        )}
      </div>
      {group !== undefined && (
        <p class="quiet">
          {count(group.letters)} {group.letters === 1 ? "letter" : "letters"} of {group.lifecycle}, failed in{" "}
          {group.origin} because of {group.reasons.join(", ")}.
        </p>
      )}
      <Letters of={{ fingerprint }} open={open} empty="No open dead letters in this group" />
      {dialog}
    </section>
  );
}
