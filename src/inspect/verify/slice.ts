/** A range of instances' ids. */
export interface Slice {
  readonly after: string;
  readonly upTo: string;
}
