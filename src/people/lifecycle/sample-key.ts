/** Samples have keys of their own within their queue. */
export function instanceKeyOf(queue: string, key: string): string {
  return `${queue}/${key}`;
}

/** The sample's own key: the name of a queue holds no slash. */
export function sampleKeyOf(instanceKey: string | null): string | null {
  return instanceKey === null ? null : instanceKey.slice(instanceKey.indexOf("/") + 1);
}
