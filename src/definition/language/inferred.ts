import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Answered, BuiltInEvent, BuiltInState, Failure, Joined, Unanswered } from "./built-in.ts";

/** Types that the compiler derives from a definition: names that exist, payloads, outcomes. */

/** The schemas of the payloads, by event. */
export type Schemas = Readonly<Record<string, StandardSchemaV1>>;

/** The schema of a lifecycle that declares no data. */
export type NoData = StandardSchemaV1<Record<string, never>, Record<string, never>>;

export type Output<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : undefined;
export type Input<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Schema> : undefined;

/** What all parts of one definition share. */
export interface Shared {
  readonly data: unknown;
  readonly events: Schemas;
  /** The states as written, each with its event names as keys. */
  readonly own: unknown;
  /** The events of the common `on`. */
  readonly common: string;
  /** The states that are declared, without the built-in ones. */
  readonly declared: string;
  /** All states, the built-in ones too. */
  readonly state: string;
  /** The events that are built in. */
  readonly builtIn: string;
}

export type SharedBy<Own, Common, Data, Events extends Schemas, BuiltIns> = {
  readonly data: Output<Data>;
  readonly events: Events;
  readonly own: Own;
  readonly common: Exclude<Common, BuiltIns extends true ? BuiltInEvent : never> & string;
  readonly declared: Exclude<keyof Own & string, BuiltIns extends true ? BuiltInState : never>;
  readonly state: (keyof Own & string) | (BuiltIns extends true ? BuiltInState : never);
  readonly builtIn: BuiltIns extends true ? BuiltInEvent : never;
};

/** The names of all events of a definition. */
export type EventNames<In extends Shared> =
  | ({ [Name in keyof In["own"]]: keyof In["own"][Name] }[keyof In["own"]] & string)
  | In["common"]
  | In["builtIn"];

/** The events that a definition adds to `failed`. */
export type FailedEvents<In extends Shared> = "failed" extends keyof In["own"] ? keyof In["own"]["failed"] : never;

/** Those of the events that can be sent without a payload. */
export type WithoutPayload<In extends Shared, Event> = Event extends keyof In["events"]
  ? undefined extends Input<In["events"][Event]>
    ? Event
    : never
  : Event extends "answered" | "unanswered" | "joined"
    ? never
    : Event & string;

/** The payload that the hooks of an edge get. */
export type PayloadSeen<In extends Shared, Event, Label> = Event extends "fail"
  ? Failure
  : Event extends keyof In["events"]
    ? Output<In["events"][Event]>
    : Event extends "answered"
      ? Answered<Label>
      : Event extends "unanswered"
        ? Unanswered<Label>
        : Event extends "joined"
          ? Joined
          : undefined;

/** The payload that a sender passes with an event. */
export type PayloadSent<In extends Shared, Event, Label> = Event extends keyof In["events"]
  ? Input<In["events"][Event]>
  : Event extends "fail"
    ? Partial<Failure> | undefined
    : PayloadSeen<In, Event, Label>;

/** The labels of all states that ask; those that do not have `unknown` here. */
export type AnyLabel<Labels> = {
  [Name in keyof Labels]: unknown extends Labels[Name] ? never : Labels[Name];
}[keyof Labels];

/**
 * The payload that a `run` passes with each event of its state. A field, so that editors show its content and not its
 * name.
 */
export interface Outcomes<In extends Shared, Own> {
  readonly of: {
    [Event in Exclude<keyof Own | In["common"], "fail" | In["builtIn"]>]: Event extends keyof In["events"]
      ? Input<In["events"][Event]>
      : undefined;
  };
}

/** `void` where a `run` may return nothing: its state has one event of its own, and that needs no payload. */
export type NothingReturned<In extends Shared, Own, Event = Exclude<keyof Own, "fail" | In["builtIn"]>> = [
  Event,
] extends [never]
  ? never
  : IsOne<Event> extends true
    ? [WithoutPayload<In, Event>] extends [never]
      ? never
      : // biome-ignore lint/suspicious/noConfusingVoidType: it is the return type of a function that returns nothing.
        void | undefined
    : never;

/** Whether a type is one name and not several: only then is each of its members complete. */
type IsOne<Name, All = Name> = (Name extends unknown ? ([All] extends [Name] ? true : false) : never) extends true
  ? true
  : false;
