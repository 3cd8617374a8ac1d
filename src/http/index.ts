export type { Principal } from "../access/access.ts";
export type { Role } from "../access/roles.ts";
export { type AppOptions, httpApp } from "./app.ts";
export type { Authenticate, AuthenticationOptions } from "./authentication.ts";
export type { AccessOptions } from "./principals.ts";
export { type HttpOptions, type HttpServer, serveHttp } from "./serve.ts";
