import { createPostgresBackend, setDefaultBackendFactory } from "bullmq";
import { serveBullMQ } from "./shared.mjs";

setDefaultBackendFactory(createPostgresBackend);
await serveBullMQ((url) => ({ connection: { connectionString: url, max: 40, migrate: true } }));
