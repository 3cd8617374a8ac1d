/** Sample keys are unique within their queue. */
export function instanceKeyOf(queue: string, key: string): string {
  return `${queue}/${key}`;
}

/** Returns the sample's own key: names of queues have no slash. */
export function sampleKeyOf(instanceKey: string | null): string | null {
  return instanceKey === null ? null : instanceKey.slice(instanceKey.indexOf("/") + 1);
}
