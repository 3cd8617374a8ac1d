import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Link } from "wouter-preact";
import { Empty } from "../parts/empty.tsx";
import { ErrorMessage } from "../parts/error-message.tsx";
import { Sample } from "../parts/sample/sample.tsx";
import { AssignmentLost } from "./connection-lost.tsx";
import { Countdown } from "./countdown.tsx";
import { Footer } from "./footer.tsx";
import { Form } from "./form/form.tsx";
import { Help } from "./keys/help.tsx";
import { KeyHandler } from "./keys/key-handler.ts";
import { Labeling } from "./labeling.ts";
import { Instructions } from "./sample/instructions.tsx";
import { Skip } from "./skip.tsx";
import { Top } from "./top.tsx";

/** The page to label samples of one queue: the sample on the left, the form on the right. */
export function LabelingPage({ queue, labeler }: { readonly queue: string; readonly labeler: string }) {
  const labeling = useMemo(() => new Labeling(queue, labeler), [queue, labeler]);
  const press = useMemo(() => new KeyHandler(labeling, queue), [labeling]);
  const shown = useSignal<"help" | "skip" | undefined>(undefined);
  useEffect(() => stay(labeling), [labeling]);
  useEffect(() => {
    document.title = `${queue} · Desk · Pawl`;
  }, [queue]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      labeling.touch();
      const action = press.key(event);
      if (action !== undefined) shown.value = action;
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [labeling, press]);
  const { phase, given, trouble } = labeling;
  return (
    <div class="desk">
      <Top queue={queue}>
        <Countdown labeling={labeling} />
        <button type="button" class="bare" aria-label="Keys" title="Keys" onClick={() => (shown.value = "help")}>
          <kbd>?</kbd>
        </button>
      </Top>
      <main class="bench">
        {given.value === undefined || phase.value === "empty" || phase.value === "closed" ? (
          <div class="desk-page">
            <ErrorMessage error={trouble.value} />
            <Nothing labeling={labeling} />
          </div>
        ) : (
          <>
            <section
              class="bench-sample"
              aria-label="Sample"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
              tabIndex={0}
              key={given.value.assignment.id}
            >
              <Sample sample={given.value.sample} />
            </section>
            <section class="bench-form" aria-label="Your answer">
              <Instructions labeling={labeling} open={press.instructions} />
              <AssignmentLost labeling={labeling} />
              <Form
                key={`form ${given.value.assignment.id}`}
                labeling={labeling}
                press={press}
                onSkip={() => (shown.value = "skip")}
              />
            </section>
          </>
        )}
      </main>
      <Footer labeling={labeling} />
      {shown.value === "help" && <Help press={press} onClose={() => (shown.value = undefined)} />}
      {shown.value === "skip" && <Skip labeling={labeling} onClose={() => (shown.value = undefined)} />}
    </div>
  );
}

/** Begins, keeps time and leaves in good order. */
function stay(labeling: Labeling): () => void {
  void labeling.begin().then(() => labeling.look());
  const timer = setInterval(() => labeling.tick(), 1_000);
  const touch = () => labeling.touch();
  const leave = () => labeling.leave();
  const turn = () => (document.visibilityState === "hidden" ? labeling.leave() : void labeling.look());
  const look = () => void labeling.look();
  document.addEventListener("visibilitychange", turn);
  document.addEventListener("pointerdown", touch);
  window.addEventListener("pagehide", leave);
  window.addEventListener("focus", look);
  return () => {
    clearInterval(timer);
    labeling.leave();
    document.removeEventListener("visibilitychange", turn);
    document.removeEventListener("pointerdown", touch);
    window.removeEventListener("pagehide", leave);
    window.removeEventListener("focus", look);
  };
}

function Nothing({ labeling }: { readonly labeling: Labeling }) {
  const { phase, why, queue } = labeling;
  if (phase.value === "closed") return <Empty title="You have no access to this queue">It may be inactive.</Empty>;
  if (phase.value !== "empty") return labeling.trouble.value === undefined ? <p class="quiet">Loading …</p> : null;
  const waits = (queue.value?.waiting ?? 0) > 0;
  return (
    <Empty title={waits ? "New samples have arrived" : "All done for now"}>
      <p role="status">{waits ? "Start when you are ready." : why.value?.replaceAll("`", "")}</p>
      {waits ? (
        <button type="button" class="primary" onClick={() => void labeling.begin()}>
          Go on
        </button>
      ) : (
        <p>
          This page refreshes automatically. <Link href="/desk">Other queues</Link>
        </p>
      )}
    </Empty>
  );
}
