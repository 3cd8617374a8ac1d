import { useState } from "preact/hooks";
import type { DeadLetterAnswer } from "../../../../src/http/contract.ts";
import { apiUrl, get } from "../../api.ts";
import type { OpenDialog } from "../../dialogs.tsx";
import { useFresh } from "../../fresh.ts";
import { usePaged } from "../../paged.ts";
import { Empty } from "../../parts/empty.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";
import { About, errorOf } from "./about.tsx";
import { DecideMany } from "./decide-many.tsx";
import { LetterDrawer } from "./letter.tsx";

const pageSize = 50;

export interface LettersProps {
  /** Of the open ones, those of one group; else those that were decided in this way. */
  readonly of: { readonly fingerprint: string } | { readonly status: string };
  readonly open: OpenDialog;
  readonly empty: string;
}

/** Dead letters one by one. The one that is looked at is in the address. */
export function Letters({ of, open, empty }: LettersProps) {
  const [filters, change] = useFilters();
  const letters = usePaged<DeadLetterAnswer>((after) => get("/dead-letters", { ...of, limit: pageSize, after }), {
    size: pageSize,
    idOf: (letter) => letter.id,
    dependsOn: [JSON.stringify(of)],
  });
  useFresh(letters.again);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // What was decided meanwhile is no longer there to be chosen.
  const id = letters.answer?.map((letter) => letter.id).filter((one) => chosen.has(one)) ?? [];
  const decide = (decision: "requeue" | "discard") =>
    open((close) => <DecideMany decision={decision} which={{ id }} onClose={close} />);
  const canChoose = may("operate") && "fingerprint" in of;
  const shown = filters.get("letter");
  const columns = columnsFor("status" in of, (id) => change({ letter: id }));
  return (
    <>
      <Trouble error={letters.error} />
      <Table
        name="letters"
        rows={letters.answer}
        rowKey={(letter) => letter.id}
        columns={columns}
        more={letters.more}
        asked={{ url: apiUrl("/dead-letters", of) }}
        empty={<Empty title={empty} />}
        chosen={canChoose ? new Set(id) : undefined}
        onChoose={setChosen}
        tools={
          id.length > 0 && (
            <>
              <button type="button" onClick={() => decide("requeue")}>
                Requeue {id.length} chosen…
              </button>
              <button type="button" onClick={() => decide("discard")}>
                Discard {id.length} chosen…
              </button>
            </>
          )
        }
      />
      {shown !== null && (
        <LetterDrawer
          key={shown}
          id={shown}
          open={open}
          onClose={() => change({ letter: "" })}
          onDecided={letters.again}
        />
      )}
    </>
  );
}

function columnsFor(decided: boolean, look: (id: string) => void): Column<DeadLetterAnswer>[] {
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
      show: (letter) => <About letter={letter} />,
    },
    {
      name: "Where",
      value: (letter) => letter.origin,
      show: (letter) => <StatePill state={letter.origin} tone="plain" />,
    },
    { name: "Attempts", numeric: true, value: (letter) => letter.attempts, show: (letter) => letter.attempts },
    { name: "Given up", value: (letter) => letter.createdAt, show: (letter) => <Time at={letter.createdAt} /> },
    ...(decided ? decidedColumns : []),
  ];
}

const decidedColumns: readonly Column<DeadLetterAnswer>[] = [
  { name: "Decided", value: (letter) => letter.decidedAt, show: (letter) => <Time at={letter.decidedAt} /> },
  { name: "By", value: (letter) => letter.decidedBy, show: (letter) => letter.decidedBy ?? "–" },
  { name: "Why", value: (letter) => letter.decision, show: (letter) => letter.decision ?? "–" },
];
