import type { OpenSessionResponse, TokenResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get, part, remove } from "../../api.ts";
import { useDialog } from "../../dialogs.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Id } from "../../parts/id.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toast.tsx";
import { commandOf } from "../../rows.ts";
import { may } from "../../session.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { CreateToken, NewLink, ShowOnce } from "./create-token.tsx";
import "../operating.css";

/** Tokens and sessions, with their roles. */
export function Access() {
  if (!may("administer")) return <Empty title="Only admins can manage tokens" />;
  return (
    <>
      <Tokens />
      <Sessions />
    </>
  );
}

function Tokens() {
  const [dialog, open] = useDialog();
  const { answer, error, again } = useRequest(() => get("/tokens"), []);
  usePolling(again, 10_000);
  const show = (title: string, secret: string, note: string) =>
    open((close) => <ShowOnce title={title} secret={secret} note={note} onClose={close} />);
  const revoke = (token: TokenResponse) =>
    open((close) => (
      <Dialog
        title={`Revoke the token of ${token.name}`}
        action="Revoke"
        dangerous
        onDo={async () => {
          await remove(`/tokens/${part(token.id)}`);
          showToast("Token revoked.");
          await again();
        }}
        onClose={close}
      >
        <p>The token and the sessions that it opened stop working immediately.</p>
      </Dialog>
    ));
  return (
    <section>
      <h1>Access</h1>
      <ErrorMessage error={error} />
      <Table
        name="tokens"
        rows={answer}
        rowKey={(token) => token.id}
        columns={columns(revoke, "token")}
        asked={{ url: apiUrl("/tokens"), command: commandOf(["token", "list"]) }}
        empty={
          <Empty title="No tokens">
            Programs sign in with a token; people with a link or with a token of their own.
          </Empty>
        }
        tools={
          <>
            <button
              type="button"
              class="primary"
              onClick={() => open((close) => <CreateToken again={again} show={show} onClose={close} />)}
            >
              New token…
            </button>
            <button type="button" onClick={() => open((close) => <NewLink show={show} onClose={close} />)}>
              Sign-in link…
            </button>
          </>
        }
      />
      {dialog}
    </section>
  );
}

/** The browsers that are signed in. */
function Sessions() {
  const [dialog, open] = useDialog();
  const { answer, error, again } = useRequest(() => get("/sessions"), []);
  usePolling(again, 10_000);
  const revoke = (session: OpenSessionResponse) =>
    open((close) => (
      <Dialog
        title={`End the session of ${session.name}`}
        action="End session"
        dangerous
        onDo={async () => {
          await remove(`/sessions/${part(session.id)}`);
          showToast("Session ended.");
          await again();
        }}
        onClose={close}
      >
        <p>The browser must sign in again.</p>
      </Dialog>
    ));
  return (
    <section class="section">
      <h2>Sessions</h2>
      <ErrorMessage error={error} />
      <Table
        name="sessions"
        rows={answer}
        rowKey={(session) => session.id}
        columns={columns(revoke, "session")}
        asked={{ url: apiUrl("/sessions"), command: commandOf(["session", "list"]) }}
        empty={<Empty title="No sessions" />}
      />
      {dialog}
    </section>
  );
}

type Listed = TokenResponse | OpenSessionResponse;

function columns<One extends Listed>(revoke: (one: One) => void, what: "token" | "session"): readonly Column<One>[] {
  return [
    { name: "Name", value: (token) => token.name, show: (token) => <b>{token.name}</b> },
    {
      name: "Role",
      value: (token) => token.role,
      show: (token) => <StatePill state={token.role} tone={token.role === "admin" ? "warn" : "plain"} />,
    },
    {
      name: "Labeler",
      value: (token) => token.labeler,
      show: (token) => token.labeler ?? <span class="quiet">–</span>,
    },
    { name: "Made", value: (token) => token.createdAt, show: (token) => <Time at={token.createdAt} /> },
    {
      name: "Expires",
      value: (token) => token.expiresAt,
      show: (token) => (token.expiresAt === null ? "never" : <Time at={token.expiresAt} />),
    },
    {
      name: "Last used",
      value: (token) => token.usedAt,
      show: (token) => (token.usedAt === null ? <span class="quiet">never</span> : <Time at={token.usedAt} />),
    },
    { name: "Id", value: (token) => token.id, show: (token) => <Id id={token.id} /> },
    {
      name: "Actions",
      show: (token) => (
        <span class="row-actions">
          <button type="button" aria-label={`Revoke the ${what} of ${token.name}`} onClick={() => revoke(token)}>
            Revoke…
          </button>
        </span>
      ),
    },
  ];
}
