/** The value of one line of a Prometheus text, `pawl_tasks_done_total{lane="task@1/pending"}`; undefined when it is not there. */
export function metric(text: string, line: string): number | undefined {
  const found = text.split("\n").find((each) => each.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}
