export { type AppOptions, httpApp } from "./app.ts";
export { type HttpOptions, type HttpServer, serveHttp } from "./serve.ts";
