import type { ComponentChildren } from "preact";
import type { Cell } from "../../rows.ts";

export interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => ComponentChildren;
  /** What it is sorted by, and written as into a file; a column without it is neither. */
  readonly value?: (row: Row) => Cell;
  readonly numeric?: boolean;
}

export interface TableProps<Row> {
  /** What the rows are, such as `instances`: the table's name, and that of its files. */
  readonly name: string;
  readonly rows: readonly Row[] | undefined;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** What stands there when there are none. */
  readonly empty: ComponentChildren;
  /** Fetches the next page; left out when all are there. */
  readonly more?: (() => void) | undefined;
  /** What was asked for the rows, so that it can be asked in a terminal as well. */
  readonly asked?: { readonly url?: string | undefined; readonly command?: string | undefined } | undefined;
  /** The keys of the rows that are chosen; left out when none can be. */
  readonly chosen?: ReadonlySet<string> | undefined;
  readonly onChoose?: (keys: ReadonlySet<string>) => void;
  /** Stands beside the menu, such as what is done with the chosen rows. */
  readonly tools?: ComponentChildren;
}
