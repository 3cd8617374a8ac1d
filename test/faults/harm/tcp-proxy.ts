import { connect, createServer, type Socket } from "node:net";

/** ReadyForQuery: the server has executed the request, and ends its reply. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5]);

/** A connection through the proxy. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly delayMs: number;
  /** A statement is on its way or running, and its reply has not passed. */
  busy: boolean;
  /** Its reply will be dropped. */
  doomed: boolean;
  /** The last request. */
  asked: string;
  /** It waits for notifications. */
  listens: boolean;
  /** Nothing from the server passes any more. */
  silent: boolean;
  /** Nothing passes in either direction, and neither end learns of it. */
  dead: boolean;
}

/** A proxy between Pawl and PostgreSQL that fails as networks do. */
export class TcpProxy {
  /** How long every piece is held up, on connections that are made from now on. */
  delayMs = 0;
  /** Swallows everything that the server sends. */
  blackhole = false;
  /** This many new connections are refused. */
  refuse = 0;
  /** Called with every chunk that passes, in either direction. */
  onPiece: () => void = () => {};
  /** Cuts so far, and how many of them met a statement that was under way. */
  readonly cuts = { all: 0, busy: 0, replies: 0 };
  readonly #links = new Set<Link>();
  readonly #texts = new Map<string, string>();
  readonly #server = createServer((client) => this.#accept(client));
  readonly #watches = new Set<{ wanted: RegExp; resolve: () => void }>();
  #doom: { wanted: RegExp; times: number } | undefined;
  #target: { port: number; host: string };

  constructor(target: { port: number; host: string }) {
    this.#target = target;
  }

  /** Listens; returns the URL of the database behind it for its clients. */
  async listen(databaseUrl: string): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const url = new URL(databaseUrl);
    url.port = String(this.port);
    return url.href;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Cuts every connection with a reset, in the middle of any message. */
  cutAll(): void {
    for (const link of this.#links) this.#cut(link);
  }

  /** Cuts one of them; `choose` is given their number. */
  cutOne(choose: (below: number) => number): void {
    const links = [...this.#links];
    if (links.length > 0) this.#cut(links[choose(links.length)]!);
  }

  /** The next statements of this text are carried out, and their replies are lost with the connection. */
  loseReplies(wanted: RegExp, times = 1): void {
    this.#doom = { wanted, times };
  }

  /** Connections that listen look healthy to both ends from now on, and nothing passes. */
  silenceListeners(): void {
    for (const link of this.#links) link.silent ||= link.listens;
  }

  /** Existing connections die silently, as when a router drops them; new ones work. */
  dropAll(): void {
    for (const link of this.#links) link.dead = true;
  }

  /** Resolves when a statement with this text was answered. */
  whenAnswered(wanted: RegExp): Promise<void> {
    return new Promise((resolve) => this.#watches.add({ wanted, resolve }));
  }

  async close(): Promise<void> {
    this.cutAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    client.on("error", () => {});
    if (this.refuse > 0) {
      this.refuse -= 1;
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.#target);
    const link: Link = {
      client,
      server,
      delayMs: this.delayMs,
      busy: false,
      doomed: false,
      asked: "",
      listens: false,
      silent: false,
      dead: false,
    };
    this.#links.add(link);
    client.setNoDelay();
    server.setNoDelay();
    client.on("data", (piece) => this.#ask(link, piece));
    server.on("data", (piece) => this.#reply(link, piece));
    client.on("close", () => this.#forget(link));
    server.on("error", () => {}).on("close", () => this.#forget(link));
  }

  #ask(link: Link, piece: Buffer): void {
    if (link.dead) return;
    link.busy = true;
    link.asked = this.#textOf(piece);
    link.listens ||= link.asked.includes("listen pawl");
    if (this.#doom !== undefined && this.#doom.times > 0 && this.#doom.wanted.test(link.asked)) {
      this.#doom.times -= 1;
      link.doomed = true;
    }
    this.#pass(link, link.server, piece);
  }

  #reply(link: Link, piece: Buffer): void {
    if (link.dead) return;
    const isWhole = piece.subarray(-6, -1).equals(ready);
    if (link.doomed) {
      if (isWhole) this.cuts.replies += 1;
      if (isWhole) this.#cut(link);
    } else if (!this.blackhole && !link.silent) {
      if (isWhole) link.busy = false;
      this.#pass(link, link.client, piece);
    }
    for (const watch of this.#watches) {
      if (!isWhole || !watch.wanted.test(link.asked)) continue;
      this.#watches.delete(watch);
      watch.resolve();
    }
  }

  #pass({ delayMs }: Link, to: Socket, piece: Buffer): void {
    if (delayMs > 0) setTimeout(() => to.write(piece), delayMs);
    else to.write(piece);
    this.onPiece();
  }

  #cut(link: Link): void {
    if (!this.#links.has(link)) return;
    this.cuts.all += 1;
    if (link.busy) this.cuts.busy += 1;
    this.#forget(link);
  }

  #forget(link: Link): void {
    this.#links.delete(link);
    link.client.resetAndDestroy();
    link.server.resetAndDestroy();
  }

  /** The request, with the texts of the statements that are executed by name. */
  #textOf(piece: Buffer): string {
    const asked = piece.toString("latin1");
    for (const [, name, text] of asked.matchAll(/(pawl_[0-9a-f]+)\0([^\0]{10,})\0/g)) this.#texts.set(name!, text!);
    return `${asked}\n${[...asked.matchAll(/\0(pawl_[0-9a-f]+)\0/g)].map(([, name]) => this.#texts.get(name!)).join("\n")}`;
  }
}
