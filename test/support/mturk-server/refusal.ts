/** An answer of the service that is no success. */
export class Refusal extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | undefined;

  constructor(text: string, code?: string, { status = 400, type = "RequestError" } = {}) {
    super(text);
    this.status = status;
    this.type = type;
    this.code = code === undefined ? undefined : `AWS.MechanicalTurk.${code}`;
  }
}

export function wrongHit(id: string): Refusal {
  return new Refusal(`Hit ${id} does not exist.`, "HITDoesNotExist");
}

export function wrongAssignment(id: string): Refusal {
  return new Refusal(`Assignment ${id} does not exist.`, "AssignmentDoesNotExist");
}

/** In the words of the service, which list the states in which it is allowed. */
export function wrongState(states: string): Refusal {
  return new Refusal(`This operation can be called with a status of: ${states}`, "InvalidAssignmentState");
}
