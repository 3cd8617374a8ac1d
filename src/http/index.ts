export type { Principal } from "../access/access.ts";
export { type AppOptions, httpApp } from "./app.ts";
export type { Authenticate } from "./authentication.ts";
export { type HttpOptions, type HttpServer, serveHttp } from "./serve.ts";
