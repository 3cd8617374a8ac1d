import { copy, save } from "../../copy.ts";
import { csv, curlOf } from "../../rows.ts";
import { Icon } from "../icon.tsx";
import { Menu } from "../menu.tsx";
import type { TableProps } from "./table-props.ts";

interface TableMenuProps<Row> extends TableProps<Row> {
  readonly rows: readonly Row[];
  readonly hidden: ReadonlySet<string>;
  readonly onHide: (column: string, isHidden: boolean) => void;
}

/** What can be done with a table as a whole: take its rows along, ask for them in a terminal, choose its columns. */
export function TableMenu<Row>({ name, rows, columns, asked, hidden, onHide }: TableMenuProps<Row>) {
  const written = columns.filter((column) => column.value !== undefined);
  const file = name.replaceAll(/\W+/g, "-");
  const saveCsv = () => {
    const cells = rows.map((row) => written.map((column) => column.value!(row)));
    const heads = written.map((column) => column.name);
    save(`${file}.csv`, csv(heads, cells), "text/csv");
  };
  return (
    <Menu label={<Icon name="more" />} name={`More actions for ${name}`} stays>
      <button type="button" onClick={saveCsv}>
        Save as CSV
      </button>
      <button
        type="button"
        onClick={() => save(`${file}.json`, JSON.stringify(rows, undefined, 2), "application/json")}
      >
        Save as JSON
      </button>
      {asked?.url !== undefined && (
        <button type="button" onClick={() => void copy(curlOf(asked.url!), "Command copied")}>
          Copy as curl
        </button>
      )}
      {asked?.command !== undefined && (
        <button type="button" onClick={() => void copy(asked.command!, "Command copied")}>
          Copy as CLI
        </button>
      )}
      <fieldset class="columns">
        <legend>Columns</legend>
        {columns.map((column) => (
          <label key={column.name}>
            <input
              type="checkbox"
              checked={!hidden.has(column.name)}
              onChange={(event) => onHide(column.name, !event.currentTarget.checked)}
            />
            {column.name}
          </label>
        ))}
      </fieldset>
    </Menu>
  );
}
