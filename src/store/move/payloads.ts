/** A row with a payload, where nothing is not the same as null: a driver reads both as null. */
export interface WithPayload {
  readonly payload: unknown;
  readonly has_payload: boolean;
}

export function payloadIn({ payload, has_payload }: WithPayload): unknown {
  return has_payload ? payload : undefined;
}
