import type { LifecycleModel } from "../model.ts";

/** The types of a lifecycle. */
export interface Facts {
  readonly name: string;
  /** The data of an instance, as hooks and readers see it. */
  readonly data: unknown;
  /** The data of a start: the input of the schema. */
  readonly input: unknown;
  readonly state: string;
  /** The payload that a sender gives with each event; undefined for none. */
  readonly events: Readonly<Record<string, unknown>>;
}

/**
 * A lifecycle as its author holds it: at run time the model that the kernel reads, for the compiler also the types of
 * its data, states and events.
 */
export interface Lifecycle<Known extends Facts = Facts> extends LifecycleModel {
  /** Exists for the compiler only. */
  readonly "~facts"?: Known;
}

/** Any lifecycle, for code that takes all of them. */
export type AnyLifecycle = Lifecycle;

type FactsOf<L extends AnyLifecycle> = NonNullable<L["~facts"]>;

/** The data of a lifecycle's instances: `DataOf<typeof essay>`. */
export type DataOf<L extends AnyLifecycle> = FactsOf<L>["data"];

/** What `start` takes as data: the input of the schema, so fields with a default may be left out. */
export type StartDataOf<L extends AnyLifecycle> = FactsOf<L>["input"];

/** The names of a lifecycle's states, `failed` and `discarded` too where they are built in. */
export type StateOf<L extends AnyLifecycle> = FactsOf<L>["state"];

/** The names of a lifecycle's events, the built-in ones too. */
export type EventOf<L extends AnyLifecycle> = keyof FactsOf<L>["events"] & string;

/** The payload to send with an event; undefined when it takes none. */
export type PayloadOf<L extends AnyLifecycle, Event extends EventOf<L>> = FactsOf<L>["events"][Event &
  keyof FactsOf<L>["events"]];

/** A payload as the last argument of a function: required, optional, or not there at all. */
export type PayloadArgument<Payload> = [Payload] extends [undefined]
  ? []
  : undefined extends Payload
    ? [payload?: Payload]
    : [payload: Payload];
