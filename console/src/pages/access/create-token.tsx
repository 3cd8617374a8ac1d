import { useEffect, useRef, useState } from "preact/hooks";
import { post } from "../../api.ts";
import { copy } from "../../copy.ts";
import { Dialog, typedIn } from "../../parts/dialog.tsx";

const roles = [
  ["viewer", "read-only"],
  ["operator", "can start, send, decide and pause"],
  ["admin", "can do everything"],
  ["labeler", "can see and label only their own assignments"],
  ["service", "a program that starts instances and sends events"],
] as const;

type Show = (title: string, secret: string, note: string) => void;

/** Creates a token, whose secret is shown next and never again. */
export function CreateToken(props: {
  readonly again: () => Promise<void>;
  readonly show: Show;
  readonly onClose: () => void;
}) {
  const { again, show, onClose } = props;
  const make = async (form: FormData) => {
    const expiresIn = typedIn(form, "expiresIn");
    const made = await post("/tokens", {
      ...principalIn(form),
      ...(expiresIn !== undefined && { expiresIn }),
    });
    await again();
    show(`The token of ${made.name}`, made.secret, "Copy it now: it is not shown again.");
  };
  return (
    <Dialog title="New token" action="Create" onDo={make} onClose={onClose}>
      <PrincipalFields />
      <label>
        Expires after
        <select name="expiresIn">
          <option value="">never</option>
          <option value="1d">1 day</option>
          <option value="7d">7 days</option>
          <option value="30d">30 days</option>
          <option value="90d">90 days</option>
          <option value="365d">365 days</option>
        </select>
      </label>
    </Dialog>
  );
}

/** A link that signs a person in once. */
export function NewLink({ show, onClose }: { readonly show: Show; readonly onClose: () => void }) {
  const make = async (form: FormData) => {
    const made = await post("/sign-in-codes", principalIn(form));
    const link = new URL(made.path.slice(1), document.baseURI).href;
    show("A sign-in link", link, "It works once and expires after 15 minutes.");
  };
  return (
    <Dialog title="Sign-in link" action="Create" onDo={make} onClose={onClose}>
      <PrincipalFields />
    </Dialog>
  );
}

function principalIn(form: FormData): { name: string | undefined; role: string; labeler?: string } {
  const labeler = typedIn(form, "labeler");
  return {
    name: typedIn(form, "name"),
    role: String(form.get("role")),
    ...(labeler !== undefined && { labeler }),
  };
}

function PrincipalFields() {
  const [role, setRole] = useState("viewer");
  return (
    <>
      <label>
        Name
        <input name="name" required autocomplete="off" maxLength={200} />
      </label>
      <label>
        Role
        <select name="role" value={role} onChange={(event) => setRole(event.currentTarget.value)}>
          {roles.map(([name, does]) => (
            <option key={name} value={name}>
              {name}: {does}
            </option>
          ))}
        </select>
      </label>
      {role === "labeler" && (
        <label>
          <span>
            Labeler id in the queues <span class="quiet">(default: the name above)</span>
          </span>
          <input name="labeler" autocomplete="off" maxLength={200} />
        </label>
      )}
    </>
  );
}

interface ShowOnceProps {
  readonly title: string;
  readonly secret: string;
  readonly note: string;
  readonly onClose: () => void;
}

/** A secret, for as long as this is open. */
export function ShowOnce({ title, secret, note, onClose }: ShowOnceProps) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog ref={box} class="dialog" aria-label={title} onClose={onClose}>
      <h2 class="dialog-title">{title}</h2>
      <p class="warning">{note}</p>
      <p class="secret">
        <input readOnly value={secret} aria-label="Secret" onFocus={(event) => event.currentTarget.select()} />
        <button type="button" onClick={() => void copy(secret)}>
          Copy
        </button>
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick={() => box.current?.close()}>
          Done
        </button>
      </div>
    </dialog>
  );
}
