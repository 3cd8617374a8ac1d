import type { DeadLetterResponse } from "../../../../src/http/contract.ts";
import { get, part, post } from "../../api.ts";
import { AskReason, type OpenDialog } from "../../dialogs.tsx";
import { jsonIn } from "../../parts/dialog.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Id } from "../../parts/id.tsx";
import { JsonView } from "../../parts/json.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { useRequest } from "../../use-request.ts";
import { errorOf, InstanceLink } from "./instance-link.tsx";
import { changesIn } from "./letter-filter.ts";

export interface LetterDrawerProps {
  readonly id: string;
  readonly open: OpenDialog;
  readonly onClose: () => void;
  readonly onDecided: () => Promise<void>;
}

/** One dead letter: its error, its subject, and the possible decisions. */
export function LetterDrawer({ id, open, onClose, onDecided }: LetterDrawerProps) {
  const { answer: letter, error, again } = useRequest(() => get(`/dead-letters/${part(id)}`), [id]);
  const decided = async () => {
    await Promise.all([again(), onDecided()]);
  };
  return (
    <Drawer title={letter === undefined ? "Dead letter" : errorOf(letter)} name="Dead letter" onClose={onClose} wide>
      <ErrorMessage error={error} />
      {letter !== undefined && <Letter letter={letter} open={open} onDecided={decided} />}
    </Drawer>
  );
}

interface LetterProps {
  readonly letter: DeadLetterResponse;
  readonly open: OpenDialog;
  readonly onDecided: () => Promise<void>;
}

function Letter({ letter, open, onDecided }: LetterProps) {
  const stack = letter.error?.stack;
  return (
    <>
      {may("operate") && letter.status === "open" && (
        <div class="row-actions">
          <button
            type="button"
            onClick={() => open((close) => <Requeue letter={letter} onClose={close} onDecided={onDecided} />)}
          >
            Requeue…
          </button>
          <button
            type="button"
            onClick={() => open((close) => <Discard letter={letter} onClose={close} onDecided={onDecided} />)}
          >
            Discard…
          </button>
        </div>
      )}
      <Facts
        facts={[
          [
            "Status",
            <StatePill key="status" state={letter.status} tone={letter.status === "open" ? "bad" : "plain"} />,
          ],
          ["About", <InstanceLink key="about" letter={letter} />],
          ["Failed in", letter.origin],
          ["Because", letter.reason],
          ["Attempts", letter.attempts],
          ["When", <Time key="when" at={letter.createdAt} />],
          ["Letter", <Id key="id" id={letter.id} />],
          ["Decided", letter.decidedAt === null ? undefined : <Time key="decided" at={letter.decidedAt} />],
          ["By", letter.decidedBy ?? undefined],
          ["Why", letter.decision ?? undefined],
        ]}
      />
      {stack !== undefined && (
        <>
          <h3>Stack</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
          <pre class="stack" tabIndex={0}>
            {stack}
          </pre>
        </>
      )}
      <h3>Payload</h3>
      <JsonView value={letter.payload} name="payload" />
      {letter.details !== null && (
        <>
          <h3>History</h3>
          <JsonView value={letter.details} name="details" />
        </>
      )}
    </>
  );
}

interface DecideProps {
  readonly letter: DeadLetterResponse;
  readonly onClose: () => void;
  readonly onDecided: () => Promise<void>;
}

/** Requeues one letter, optionally with changed data: the change is journaled with its actor. */
function Requeue({ letter, onClose, onDecided }: DecideProps) {
  const isInstance = letter.kind === "instance" && letter.instance !== null;
  const { answer: instance, error } = useRequest(
    async () => (isInstance ? get(`/instances/${part(letter.instance!)}`) : undefined),
    [letter.id],
  );
  const before = instance?.data as Readonly<Record<string, unknown>> | undefined;
  const requeue = async (reason: string | undefined, form: FormData) => {
    const data = before === undefined ? undefined : changesIn(before, jsonIn(form, "data"));
    await post(`/dead-letters/${part(letter.id)}/requeue`, {
      reason,
      ...(data !== undefined && { data }),
      ...(form.get("restart") !== null && { restart: true }),
    });
    await onDecided();
  };
  return (
    <AskReason title="Requeue this dead letter" action="Requeue" said="Requeued." onDo={requeue} onClose={onClose}>
      <ErrorMessage error={error} />
      {before !== undefined && (
        <>
          <label>
            Data
            <textarea name="data" rows={10} spellcheck={false}>
              {JSON.stringify(before, undefined, 2)}
            </textarea>
          </label>
          <label class="inline">
            <input type="checkbox" name="restart" />
            Start over instead of resuming where it failed
          </label>
        </>
      )}
    </AskReason>
  );
}

function Discard({ letter, onClose, onDecided }: DecideProps) {
  const discard = async (reason: string | undefined) => {
    await post(`/dead-letters/${part(letter.id)}/discard`, { reason });
    await onDecided();
  };
  return (
    <AskReason
      title="Discard this dead letter"
      action="Discard"
      dangerous
      said="Discarded."
      onDo={discard}
      onClose={onClose}
    >
      <p>It will not be retried. Its instance stays where it is.</p>
    </AskReason>
  );
}
