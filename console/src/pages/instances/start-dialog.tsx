import { useRef } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { part, post } from "../../api.ts";
import { lifecycles } from "../../lifecycles.ts";
import { Dialog, jsonIn, typedIn } from "../../parts/dialog.tsx";
import { JsonField, ReasonField } from "../../parts/dialog-fields.tsx";
import { showToast } from "../../parts/toast.tsx";

export interface StartDialogProps {
  readonly lifecycle: string;
  /** The initial data, to be edited. @default empty */
  readonly data?: unknown;
  readonly onClose: () => void;
}

/** Starts an instance with the data that is typed in, and leads to it. */
export function StartDialog({ lifecycle, data = {}, onClose }: StartDialogProps) {
  const [, go] = useLocation();
  const request = useRef(crypto.randomUUID());
  const start = async (form: FormData) => {
    const name = typedIn(form, "lifecycle") ?? lifecycle;
    const body = { key: typedIn(form, "key"), data: jsonIn(form, "data"), reason: typedIn(form, "reason") };
    const started = await post(`/lifecycles/${part(name)}/instances`, body, request.current);
    showToast(started.created ? "Started." : "An instance with this key already exists. It is shown here.");
    go(`/instances/${started.id}`);
  };
  return (
    <Dialog title="Start an instance" action="Start" onDo={start} onClose={onClose}>
      <label>
        Lifecycle
        <select name="lifecycle" defaultValue={lifecycle}>
          {lifecycles.value.map(({ name }) => (
            <option key={name} selected={name === lifecycle}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Key (optional)
        <input name="key" autocomplete="off" />
      </label>
      <JsonField name="data" label="Data" rows={6} value={data} />
      <ReasonField />
    </Dialog>
  );
}
