import { useRef, useState } from "preact/hooks";
import type { AllowedEventResponse, InstanceResponse } from "../../../../src/http/contract.ts";
import { part, post } from "../../api.ts";
import { isInternal, lifecycleNamed } from "../../lifecycles.ts";
import { Dialog, jsonIn, typedIn } from "../../parts/dialog.tsx";
import { JsonField, ReasonField } from "../../parts/dialog-fields.tsx";
import { Menu } from "../../parts/menu.tsx";
import { showToast } from "../../parts/toast.tsx";
import { may } from "../../session.ts";

export interface InstanceActionsProps {
  readonly instance: InstanceResponse;
  readonly permitted: readonly AllowedEventResponse[];
  readonly onDone: () => void;
  readonly onCopy: () => void;
}

/** The built-in events, with their descriptions for the user. */
const builtIn: Readonly<Record<string, { readonly name: string; readonly means: string }>> = {
  recover: { name: "Retry", means: "Resumes from its checkpoint now." },
  restart: { name: "Restart", means: "Starts again from its first state, with its current data." },
  fail: { name: "Fail", means: "Fails permanently, as if its step had exhausted its attempts." },
  discard: { name: "Discard", means: "Ends the instance. Everything that waits for it is notified." },
};

/** What usually sends the events of the current state: undefined if it waits for events from outside, as from a person. */
function senderOf({ lifecycle, state }: InstanceResponse): string | undefined {
  const known = lifecycleNamed(lifecycle)?.states.find(({ name }) => name === state);
  switch (known?.kind) {
    case "work":
      return "the worker of its step";
    case "ask":
      return known.asks?.whom === "crowd" ? "the crowd that it asks" : "the queue that it asks";
    case "join":
      return "the end of its children";
    default:
      return undefined;
  }
}

/**
 * The events that the instance currently accepts. First those that a person should send; the events of a step, a
 * question or a join are in the menu, behind a warning.
 */
export function InstanceActions({ instance, permitted, onDone, onCopy }: InstanceActionsProps) {
  const [event, setEvent] = useState<string>();
  const own = permitted.filter(({ event }) => builtIn[event] === undefined);
  const sender = senderOf(instance);
  const known = permitted.filter(({ event }) => builtIn[event] !== undefined && may("operate"));
  return (
    <div class="actions">
      {sender === undefined &&
        own.map((one) => <EventButton key={one.event} permitted={one} name={one.event} onPress={setEvent} />)}
      {known
        .filter((one) => one.event === "recover")
        .map((one) => (
          <EventButton key={one.event} permitted={one} name="Retry" onPress={setEvent} />
        ))}
      <Menu label="More" name="More actions">
        {sender !== undefined && own.length > 0 && (
          <fieldset class="columns worker-events">
            <legend>Sent by {sender}</legend>
            {own.map((one) => (
              <EventButton key={one.event} permitted={one} name={one.event} onPress={setEvent} />
            ))}
          </fieldset>
        )}
        {known
          .filter((one) => one.event !== "recover")
          .map((one) => (
            <EventButton key={one.event} permitted={one} name={builtIn[one.event]!.name} onPress={setEvent} />
          ))}
        {!isInternal(instance.lifecycle) && (
          <button type="button" onClick={onCopy}>
            Start a copy
          </button>
        )}
      </Menu>
      {event !== undefined && (
        <SendDialog instance={instance} event={event} onClose={() => setEvent(undefined)} onDone={onDone} />
      )}
    </div>
  );
}

interface EventButtonProps {
  readonly permitted: AllowedEventResponse;
  readonly name: string;
  readonly onPress: (event: string) => void;
}

function EventButton({ permitted, name, onPress }: EventButtonProps) {
  const why = permitted.permitted === "no" ? permitted.blockers.map(({ reason }) => reason).join(" ") : undefined;
  return (
    <button type="button" disabled={why !== undefined} title={why} onClick={() => onPress(permitted.event)}>
      {name}
    </button>
  );
}

interface SendDialogProps {
  readonly instance: InstanceResponse;
  readonly event: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function SendDialog({ instance, event, onClose, onDone }: SendDialogProps) {
  const request = useRef(crypto.randomUUID());
  const special = builtIn[event];
  const sender = special === undefined ? senderOf(instance) : undefined;
  const send = async (form: FormData) => {
    const body = {
      payload: jsonIn(form, "payload"),
      reason: typedIn(form, "reason"),
      expectedVersion: instance.version,
    };
    await post(`/instances/${instance.id}/events/${part(event)}`, body, request.current);
    showToast(`${event} was applied.`);
    onDone();
  };
  return (
    <Dialog
      title={special === undefined ? `Send ${event}` : `${special.name} ${instance.key ?? "this instance"}`}
      action={special?.name ?? "Send"}
      onDo={send}
      onClose={onClose}
      dangerous={event === "discard" || event === "fail" || sender !== undefined}
      typed={event === "discard" ? "discard" : undefined}
    >
      {special !== undefined && <p class="quiet">{special.means}</p>}
      {sender !== undefined && (
        <p class="warning">
          In state {instance.state}, {sender} sends this event. If you send it, the instance moves on without that work,
          and the result of an attempt that runs is refused.
        </p>
      )}
      {special === undefined && <JsonField name="payload" label="Payload" rows={5} />}
      <ReasonField />
    </Dialog>
  );
}
