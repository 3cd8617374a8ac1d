/** A program that tests talk to. To add one: a file that exports a `Service`, and a line in `services.ts`. */
export interface Service {
  readonly name: string;
  /** Without it a run on CI fails; elsewhere its suites are named as skipped. */
  readonly required: boolean;
  /** Started when a suite requests it, at the address in this variable. */
  readonly onDemand?: string;
  /** Environment variables of services before it in the list, without which it is of no use. */
  readonly needs: readonly string[];
  /** What brings it on Debian and Ubuntu. */
  readonly packages: readonly string[];
  /** Completes the sentence "… is missing: …" for a person. */
  readonly howToGet: string;
  /** What starts it, or undefined where it is not installed. */
  find(): Promise<Start | undefined>;
}

export type Start = (env: NodeJS.ProcessEnv) => Promise<RunningService>;

export interface RunningService {
  /** Its name and place, for the header of the run. */
  readonly about: string;
  /** What tests find it by. An undefined value takes the variable away from them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  stop(): Promise<void>;
}
