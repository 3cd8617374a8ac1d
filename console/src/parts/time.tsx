import { length, local, now, relative, timeMode, utc } from "../preferences/times.ts";

/** A moment in the format of the top bar; other formats are in the tooltip. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <span class="quiet">–</span>;
  const ms = Date.parse(at);
  const mode = timeMode.value;
  const shown = mode === "utc" ? utc(ms) : mode === "local" ? local(ms) : relative(ms, now.value);
  return (
    <time dateTime={at} title={`${utc(ms)} · ${local(ms)} here`}>
      {shown}
    </time>
  );
}

/** A length of time. */
export function Length({ ms }: { readonly ms: number | null | undefined }) {
  return ms === null || ms === undefined ? <span class="quiet">–</span> : <span class="number">{length(ms)}</span>;
}
