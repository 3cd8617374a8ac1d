import { serveBullMQ } from "./shared.mjs";

await serveBullMQ((url) => {
  const { hostname, port } = new URL(url);
  return { connection: { host: hostname, port: Number(port), maxRetriesPerRequest: null } };
});
