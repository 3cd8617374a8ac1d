import type {
  AssignmentResponse,
  DeskResponse,
  DeskWorkResponse,
  NextResponse,
  SubmittedResponse,
} from "../../../src/http/contract.ts";
import { get, part, post, put } from "../api.ts";
import type { FormValue } from "./form/form-values.ts";
import { midnight } from "./times.ts";

const maxKeptAlive = 60_000;

/** The requests of the desk, all for one labeler. */
export class DeskApi {
  readonly #labeler: string;

  constructor(labeler: string) {
    this.#labeler = labeler;
  }

  desk(): Promise<DeskResponse> {
    return get("/desk", { labeler: this.#labeler, since: midnight(new Date()).toISOString() });
  }

  next(queue: string): Promise<NextResponse> {
    return post(`/queues/${part(queue)}/next`, this.#as());
  }

  work(id: string): Promise<DeskWorkResponse> {
    return get(`/desk/assignments/${part(id)}`, this.#as());
  }

  start(id: string): Promise<AssignmentResponse> {
    return post(`/assignments/${part(id)}/start`, this.#as());
  }

  extend(id: string): Promise<AssignmentResponse> {
    return post(`/assignments/${part(id)}/extend`, this.#as());
  }

  submit(id: string, label: unknown): Promise<SubmittedResponse> {
    return post(`/assignments/${part(id)}/submit`, { label, ...this.#as() });
  }

  skip(id: string, reason: string | undefined): Promise<AssignmentResponse> {
    return post(`/assignments/${part(id)}/skip`, { ...(reason === undefined ? {} : { reason }), ...this.#as() });
  }

  saveDraft(id: string, draft: FormValue, leaving: boolean): Promise<unknown> {
    const body = { draft: draft ?? "", ...this.#as() };
    // What outlives its page may not be large.
    const keepalive = leaving && JSON.stringify(body).length < maxKeptAlive;
    return put(`/assignments/${part(id)}/draft`, body, { keepalive });
  }

  #as(): { labeler: string } {
    return { labeler: this.#labeler };
  }
}
