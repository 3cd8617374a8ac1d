import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { InstanceResponse } from "../../../../src/http/contract.ts";
import { messageOf, part, post } from "../../api.ts";
import { lifecycles } from "../../lifecycles.ts";
import { Dialog, jsonIn, typedIn } from "../../parts/dialog.tsx";
import { JsonField, ReasonField } from "../../parts/dialog-fields.tsx";
import { showToast } from "../../parts/toast.tsx";

export interface SendManyProps {
  readonly instances: readonly InstanceResponse[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface Refusal {
  readonly instance: InstanceResponse;
  readonly why: string;
}

/** Sends one event to each of some instances, each by a call of its own: one that is refused holds up no other. */
export function SendMany({ instances, onClose, onDone }: SendManyProps) {
  // A retry does not send it again to those that accepted it.
  const [left, setLeft] = useState(instances);
  const [done, setDone] = useState(0);
  const [refused, setRefused] = useState<readonly Refusal[]>([]);
  const lifecycle = lifecycles.value.find(({ name }) => name === instances[0]?.lifecycle);
  const standIn = new Set(instances.map(({ state }) => state));
  const events = new Set(lifecycle?.states.filter(({ name }) => standIn.has(name)).flatMap((state) => state.events));
  const send = async (form: FormData) => {
    const event = typedIn(form, "event") ?? "";
    const body = { payload: jsonIn(form, "payload"), reason: typedIn(form, "reason") };
    const refusals: Refusal[] = [];
    setDone(0);
    for (const instance of left) {
      try {
        await post(`/instances/${instance.id}/events/${part(event)}`, body);
      } catch (error) {
        refusals.push({ instance, why: messageOf(error) });
      }
      setDone((before) => before + 1);
      setRefused([...refusals]);
    }
    onDone();
    setLeft(refusals.map(({ instance }) => instance));
    if (refusals.length > 0) throw new Error(`${refusals.length} of ${left.length} refused it.`);
    showToast(`Sent to ${left.length}.`);
  };
  return (
    <Dialog title={`Send an event to ${left.length}`} action="Send" onDo={send} onClose={onClose}>
      <label>
        Event
        <select name="event" required>
          {[...events].map((event) => (
            <option key={event}>{event}</option>
          ))}
        </select>
      </label>
      <JsonField name="payload" label="Payload" rows={4} />
      <ReasonField />
      {done > 0 && <progress max={Math.max(left.length, done)} value={done} aria-label="How many were sent" />}
      {refused.length > 0 && (
        <ul class="short-list refusals">
          {refused.map(({ instance, why }) => (
            <li key={instance.id}>
              <Link href={`/instances/${instance.id}`}>{instance.key ?? instance.id}</Link>
              <span>{why}</span>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
