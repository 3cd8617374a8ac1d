import { useState } from "preact/hooks";
import type { DeadLetterResponse } from "../../../../src/http/contract.ts";
import type { OpenDialog } from "../../dialogs.tsx";
import { Empty } from "../../parts/empty.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { PagedTable } from "../../parts/table/paged-table.tsx";
import type { Column } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { DecideMany } from "./decide-many.tsx";
import { errorOf, InstanceLink } from "./instance-link.tsx";
import { LetterDrawer } from "./letter.tsx";

export interface LettersProps {
  /** Of the open ones, those of one group; else those that were decided in this way. */
  readonly of: { readonly fingerprint: string } | { readonly status: string };
  readonly open: OpenDialog;
  readonly empty: string;
}

/** Dead letters one by one. The open one is in the URL. */
export function Letters({ of, open, empty }: LettersProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const decide = (decision: "requeue" | "discard", id: readonly string[]) =>
    open((close) => <DecideMany decision={decision} which={{ id }} onClose={close} />);
  const canChoose = may("operate") && "fingerprint" in of;
  return (
    <PagedTable<DeadLetterResponse>
      name="letters"
      path="/dead-letters"
      query={of}
      columns={({ show }) => columnsFor("status" in of, show)}
      empty={<Empty title={empty} />}
      chosen={canChoose ? chosen : undefined}
      onChoose={setChosen}
      tools={({ chosen: ids }) =>
        ids.length > 0 && (
          <>
            <button type="button" onClick={() => decide("requeue", ids)}>
              Requeue {ids.length} selected…
            </button>
            <button type="button" onClick={() => decide("discard", ids)}>
              Discard {ids.length} selected…
            </button>
          </>
        )
      }
      drawer={{
        parameter: "letter",
        show: ({ id, onClose, onChanged }) => (
          <LetterDrawer key={id} id={id} open={open} onClose={onClose} onDecided={onChanged} />
        ),
      }}
    />
  );
}

function columnsFor(decided: boolean, look: (id: string) => void): Column<DeadLetterResponse>[] {
  return [
    {
      name: "Error",
      value: (letter) => errorOf(letter),
      show: (letter) => (
        <button type="button" class="link fault" onClick={() => look(letter.id)}>
          {errorOf(letter)}
        </button>
      ),
    },
    {
      name: "Instance",
      value: (letter) => letter.key ?? letter.instance,
      show: (letter) => <InstanceLink letter={letter} />,
    },
    {
      name: "Where",
      value: (letter) => letter.origin,
      show: (letter) => <StatePill state={letter.origin} tone="plain" />,
    },
    { name: "Attempts", numeric: true, value: (letter) => letter.attempts, show: (letter) => letter.attempts },
    { name: "Failed at", value: (letter) => letter.createdAt, show: (letter) => <Time at={letter.createdAt} /> },
    ...(decided ? decidedColumns : []),
  ];
}

const decidedColumns: readonly Column<DeadLetterResponse>[] = [
  { name: "Decided", value: (letter) => letter.decidedAt, show: (letter) => <Time at={letter.decidedAt} /> },
  { name: "By", value: (letter) => letter.decidedBy, show: (letter) => letter.decidedBy ?? "–" },
  { name: "Why", value: (letter) => letter.decision, show: (letter) => letter.decision ?? "–" },
];
