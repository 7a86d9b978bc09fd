/**
 * HTTP to one server over kept connections, for requests whose answer is a stream. Redirects are not followed: they
 * would carry the key elsewhere. Proxies are those of the daemon's environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY),
 * additional certificates those of Node (NODE_EXTRA_CA_CERTS).
 */
import type { Agent, AgentOptions, IncomingMessage, request } from "node:http";
import type { Readable } from "node:stream";
import type { LaneReadings } from "../../abi/lanes.ts";
import { reasonOf } from "../../lib/abort.ts";
import { paced } from "../../lib/paced.ts";
import { foreignJson, type Json, objectOf } from "../json.ts";
import { readingsOf } from "../lane.ts";
import { VERSION } from "../version.ts";
import { placeBelow } from "./base-url.ts";

/** How long an unused connection is kept; a server that announces a shorter time is heeded. */
const KEPT_MS = 4_000;
const KEPT_CONNECTIONS = 8;
/** How long a connection may take, and its silence. */
export interface Patience {
  readonly connectMs: number;
  readonly silenceMs: number;
}
/** The device's watchdog is faster, except with local servers. */
const PATIENCE: Patience = { connectMs: 10_000, silenceMs: 300_000 };
/** Most bytes that are read of an answer that is not a stream. */
const MAX_TEXT_BYTES = 1024 * 1024;
/** The headers of a refusal that say when to try again, and by which clock. */
const TOLD = ["retry-after-ms", "retry-after", "x-should-retry", "date"] as const;

/**
 * Answers that are begun in one round of the event loop: one that is whole is read, recorded and acted upon at once, for some
 * milliseconds, and those of many agents may come together.
 */
const BEGUN = paced(4);

/** The body of an answer. */
export interface Body {
  /** The next chunk. */
  next(): Promise<IteratorResult<Uint8Array, unknown>>;
  /** Ends it, whatever is waited for; a body that was not read to its end takes its connection with it. */
  close(): void;
}

/** The server answered, but not with success. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly headers = new Headers();
  /** The body, if it is one JSON object of ordinary length. */
  readonly body: Json;

  constructor({ statusCode = 0, headers }: IncomingMessage, text: string) {
    const { location } = headers;
    const isMoved = statusCode >= 300 && statusCode < 400 && location !== undefined;
    super(`${statusCode} ${isMoved ? movedTo(location) : readable(text)}`);
    this.status = statusCode;
    // where a stream is a list of answers, as at Google, a refusal is one, too
    this.body = objectOf([parsed(text)].flat()[0]);
    for (const name of TOLD) if (headers[name] !== undefined) this.headers.set(name, String(headers[name]));
  }
}

/** The server sent nothing for too long. */
export class HttpSilence extends Error {}

export class HttpClient {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: Agent;
  readonly #request: typeof request;

  readonly #patience: Patience;

  /** `credential`: the header with the key. */
  constructor(baseUrl: string, credential: Readonly<Record<string, string>>, patience: Patience = PATIENCE) {
    // loaded when needed: most daemons talk to one server, and some to none
    const http = process.getBuiltinModule("node:http");
    const own = baseUrl.startsWith("https:") ? process.getBuiltinModule("node:https") : http;
    // Node's own, if it was told to use proxies
    const { proxyEnv = proxiesOf(process.env) } =
      (http.globalAgent as { readonly options?: AgentOptions }).options ?? {};
    const options: AgentOptions = {
      keepAlive: true,
      timeout: KEPT_MS,
      maxFreeSockets: KEPT_CONNECTIONS,
      scheduling: "lifo",
      ...(proxyEnv === undefined ? {} : { proxyEnv }),
    };
    this.#baseUrl = baseUrl;
    this.#patience = patience;
    this.#headers = {
      ...credential,
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": `crux/${VERSION}`,
    };
    this.#agent = new own.Agent(options);
    this.#request = own.request;
  }

  /** The body of the answer to a JSON text. Rejects with HttpRefusal, or as the connection fails. */
  async post(path: string, json: JsonText, more: PostOptions): Promise<Body> {
    const answer = await this.#exchange(path, { ...more, json });
    const chunks = answer[Symbol.asyncIterator]();
    return { next: () => chunks.next(), close: () => void answer.destroy() };
  }

  /** The answer to a GET, or to a JSON text, as JSON; undefined: it is something else. Rejects as `post` does. */
  async ask(path: string, more: Exchange): Promise<unknown> {
    return parsed(await textOf(await this.#exchange(path, more)));
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy();
  }

  async #exchange(path: string, options: Exchange): Promise<Readable> {
    const answer = await this.#answer(path, options);
    await BEGUN.next();
    if (options.signal.aborted) throw reasonOf(options.signal);
    const { statusCode = 0, headers } = answer;
    const content = unpacked(answer);
    const readings =
      options.limited === undefined ? undefined : readingsOf((name) => headers[name]?.toString());
    if (readings !== undefined) options.limited?.(readings);
    if (statusCode < 200 || statusCode > 299) throw new HttpRefusal(answer, await textOf(content));
    return content;
  }

  /** Resolves with the headers of the answer. An abort also ends its body. */
  #answer(path: string, { signal, headers, json }: Exchange): Promise<IncomingMessage> {
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    const url = placeBelow(this.#baseUrl, path);
    // they would be sent beside the key
    if (url.username !== "" || url.password !== "")
      return Promise.reject(new Error("the base URL holds a user name or a password"));
    const { connectMs, silenceMs } = this.#patience;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    // a text would be gone through three times: for its length, after its headers, and for the socket
    const parts = typeof json === "string" ? [Buffer.from(json)] : (json ?? []);
    const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const type =
      json === undefined ? {} : { "content-type": "application/json", "content-length": `${length}` };
    const sent = this.#request(url, {
      agent: this.#agent,
      method: json === undefined ? "GET" : "POST",
      headers: { ...this.#headers, ...headers, ...type },
      timeout: silenceMs,
    });
    let open: { destroy(error: Error): unknown } = sent;
    const abort = (): void => void open.destroy(reasonOf(signal));
    signal.addEventListener("abort", abort, { once: true });
    const connecting = setTimeout(
      () => sent.destroy(new Error(`no connection within ${connectMs / 1000} s`)),
      connectMs,
    );
    const isConnected = (): void => clearTimeout(connecting);
    sent
      .once("socket", (socket) => {
        if (!socket.connecting) isConnected();
        else socket.once("encrypted" in socket ? "secureConnect" : "connect", isConnected);
      })
      .once("timeout", () => open.destroy(new HttpSilence(`no data for ${silenceMs / 1000} s`)))
      .once("response", (answer) => {
        open = answer;
        resolve(answer);
      })
      .once("close", () => {
        isConnected();
        signal.removeEventListener("abort", abort);
      })
      .on("error", reject);
    sent.cork();
    for (const part of parts) if (part.byteLength > 0) sent.write(part);
    sent.end();
    return promise;
  }
}

/** A text, or its bytes in parts, which must not change. */
type JsonText = string | readonly Uint8Array[];

export interface PostOptions {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Told what the headers of the answer say of limits, whatever its status. */
  readonly limited?: ((readings: LaneReadings) => void) | undefined;
}

interface Exchange extends PostOptions {
  /** The body; absent: it is a GET. */
  readonly json?: JsonText;
}

type ProxyEnv = NonNullable<AgentOptions["proxyEnv"]>;

/** As most programs read them, but never for this machine's own servers. undefined: there are none, or not to be used. */
function proxiesOf(env: NodeJS.ProcessEnv): ProxyEnv | undefined {
  const http = env.http_proxy || env.HTTP_PROXY || "";
  const https = env.https_proxy || env.HTTPS_PROXY || "";
  if (env.NODE_USE_ENV_PROXY === "0" || http + https === "") return undefined;
  const direct = [env.no_proxy || env.NO_PROXY || "", "localhost", "127.0.0.1", "::1", "[::1]"];
  return {
    ...(http === "" ? {} : { HTTP_PROXY: withScheme(http) }),
    ...(https === "" ? {} : { HTTPS_PROXY: withScheme(https) }),
    NO_PROXY: direct.filter((each) => each !== "").join(","),
  };
}

function withScheme(proxy: string): string {
  return /^[a-z0-9]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}

/** What a server packed although nobody asked for it. Throws for an encoding that is not known here. */
function unpacked(answer: IncomingMessage): Readable {
  const encoding = (answer.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return answer;
  const zlib = process.getBuiltinModule("node:zlib");
  const make = { gzip: zlib.createGunzip, "x-gzip": zlib.createGunzip, deflate: zlib.createInflate };
  const unpack = Object.hasOwn(make, encoding) ? make[encoding as keyof typeof make]() : undefined;
  if (unpack === undefined) {
    answer.destroy();
    throw new Error(`it answers in the encoding ${encoding}, which was not asked for`);
  }
  // whichever fails or is closed ends the other; its reader gets the failure
  return process.getBuiltinModule("node:stream").pipeline(answer, unpack, () => {});
}

/** Whoever follows it sends the key there. */
function movedTo(location: string): string {
  const { origin, pathname } = URL.parse(location, "http://the.same.server/") ?? { origin: "", pathname: "" };
  const place = origin === "http://the.same.server" ? pathname : `${origin}${pathname}`;
  return `a redirect to ${place}, which is not followed, because the key would go with it: set the base URL to that place`;
}

/** The text of a refusal; of a web page its title. */
function readable(text: string): string {
  if (text === "") return "status code (no body)";
  return isPage(text) ? pageWords(text) : text;
}

export function isPage(text: string): boolean {
  return /^[\s\uFEFF]*</.test(text);
}

export function pageWords(text: string): string {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]?.replace(/\s+/g, " ").trim() ?? "";
  return title === "" ? "a web page" : `a web page: ${title}`;
}

/** The text of a short answer; of a long one its beginning, and its connection is closed. */
async function textOf(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer) {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes >= MAX_TEXT_BYTES) break;
  }
  return Buffer.concat(parts).toString("utf8", 0, Math.min(bytes, MAX_TEXT_BYTES));
}

function parsed(text: string): unknown {
  try {
    return foreignJson(text);
  } catch {
    return undefined;
  }
}
