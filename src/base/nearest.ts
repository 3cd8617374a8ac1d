/** The name that was probably intended, if one of `names` differs by at most three edits, depending on its length. */
export function nearest(name: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.min(3, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    const distance = editDistance(name, candidate);
    if (distance >= least) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let at = 1; at <= left.length; at++) {
    const next = [at];
    for (let to = 1; to <= right.length; to++) {
      const swap = row[to - 1]! + (left[at - 1] === right[to - 1] ? 0 : 1);
      next.push(Math.min(swap, row[to]! + 1, next[to - 1]! + 1));
    }
    row = next;
  }
  return row[right.length]!;
}
