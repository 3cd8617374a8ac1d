import { PawlError } from "../../../base/errors.ts";
import type { Reached } from "../../transport/reach.ts";

type Which = { readonly key: string } | { readonly id: string };

/** The instance of a command. One given by id must belong to the lifecycle that is given, too. */
export async function instanceNamed(
  pawl: Reached,
  lifecycle: string | undefined,
  which: Which,
): Promise<{ readonly lifecycle: string | undefined; readonly key: string } | { readonly id: string }> {
  if ("key" in which) return { lifecycle, ...which };
  const { id } = which;
  if (lifecycle === undefined || (await pawl.call("get", { id })).lifecycle === lifecycle) return { id };
  throw new PawlError("instance_unknown", `Lifecycle \`${lifecycle}\` has no instance with id ${id}.`, {
    lifecycle,
    id,
  });
}
