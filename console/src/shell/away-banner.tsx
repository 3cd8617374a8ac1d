import { away, probe } from "../connection.ts";
import { local } from "../preferences/times.ts";

/** Says at once, on every page, that Pawl or its database does not respond. */
export function AwayBanner() {
  if (away.value === undefined) return null;
  const { what, since } = away.value;
  return (
    <div class="away" role="alert">
      <span>
        <b>{what} does not respond</b> since {local(since).slice(11)}. What you see may be older. This page loads again
        as soon as it responds.
      </span>
      <button type="button" onClick={() => void probe()}>
        Try now
      </button>
    </div>
  );
}
