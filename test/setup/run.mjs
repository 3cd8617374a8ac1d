// `npm test` starts here: Node 20 runs no TypeScript of its own, so tsx is put in front of the rest.
import { register } from "tsx/esm/api";

register();
await import("./main.ts");
