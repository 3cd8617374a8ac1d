import { apiUrl, part } from "../../api.ts";
import { commandOf } from "../../rows.ts";

/** The filters of the page that its address and the server share. */
const filterNames = ["state", "key", "failure", "olderThan", "idleFor", "parent"] as const;

/** The list of instances that an address asks for. */
export interface InstanceQuery {
  readonly path: "/search" | `/lifecycles/${string}/instances`;
  readonly filter: Readonly<Record<string, readonly string[]>>;
  /** The same list for a terminal, with every filter. */
  readonly url: string;
  readonly command: string | undefined;
}

const id = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Whether a text in the field for keys is the id of an instance. */
function isId(text: string): boolean {
  return id.test(text.trim());
}

/** Reads the filters of an address. */
export function instanceQuery(lifecycle: string, address: URLSearchParams, limit: number): InstanceQuery {
  const key = address.get("key") ?? "";
  if (isId(key)) {
    const filter = { text: [key.trim()] };
    return { path: "/search", filter, url: apiUrl("/search", filter), command: undefined };
  }
  const path = `/lifecycles/${part(lifecycle)}/instances` as const;
  const set = filterNames.map((name) => [name, address.getAll(name).filter((value) => value !== "")] as const);
  const filter = Object.fromEntries(set.filter(([, values]) => values.length > 0));
  const options = Object.fromEntries(
    Object.entries(filter).map(([name, values]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      values,
    ]),
  );
  return {
    path,
    filter,
    url: apiUrl(path, { ...filter, limit }),
    command: commandOf(["instance", "list", lifecycle], { ...options, limit }),
  };
}
