import { useState } from "preact/hooks";
import { messageOf } from "../api.ts";
import { signIn } from "../session.ts";

/** Asks for a token. Local users sign in with the link that Pawl prints. */
export function SignIn() {
  const [error, setError] = useState<string>();
  const wasSpent = location.search.includes("spent");
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    try {
      await signIn(new FormData(form).get("token") as string);
    } catch (thrown) {
      setError(messageOf(thrown));
    }
  };
  return (
    <main class="sign-in">
      <h1>Pawl</h1>
      {wasSpent && <p class="warning">The link was already used or has expired. Get a new one with pawl sign-in</p>}
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Token
          <input name="token" type="password" required autocomplete="current-password" />
        </label>
        {error !== undefined && (
          <p role="alert" class="error">
            {error}
          </p>
        )}
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <p class="quiet">
        On the machine that runs Pawl, <code>pawl sign-in</code> prints a link that works without a token.
      </p>
    </main>
  );
}
