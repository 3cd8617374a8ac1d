import type { ComponentChildren } from "preact";
import type { Cell } from "../../rows.ts";

export interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => ComponentChildren;
  /** The value for sorting and export; a column without it has neither. */
  readonly value?: (row: Row) => Cell;
  readonly numeric?: boolean;
}

export interface TableProps<Row> {
  /** The name of the rows, such as `instances`: also the name of exported files. */
  readonly name: string;
  readonly rows: readonly Row[] | undefined;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** Shown if there are no rows. */
  readonly empty: ComponentChildren;
  /** Fetches the next page; left out when all are there. */
  readonly more?: (() => void) | undefined;
  /** How many rows there are on all pages, as far as the server knows. */
  readonly total?: { readonly count: number; readonly more: boolean } | undefined;
  /** The request for the rows, to repeat it in a terminal. */
  readonly asked?: { readonly url?: string | undefined; readonly command?: string | undefined } | undefined;
  /** The keys of the rows that are chosen; left out when none can be. */
  readonly chosen?: ReadonlySet<string> | undefined;
  readonly onChoose?: (keys: ReadonlySet<string>) => void;
  /** Next to the menu, such as actions on the selected rows. */
  readonly tools?: ComponentChildren;
}
