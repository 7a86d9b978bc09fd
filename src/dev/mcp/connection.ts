/**
 * One connection to a server, from start to end: to a local program run as a service, or to a remote server over
 * HTTP.
 */
import type {
  Client,
  ClientOptions,
  JsonSchemaValidator,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { DriverError, messageOf } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import { abortable } from "../../lib/abort.ts";
import { cancelled, driverError } from "../driver-error.ts";
import { httpStatus, networkErrno, SessionGone } from "./fault.ts";
import type { LocalLaunch, RemoteLaunch, ServerLaunch } from "./launch.ts";
import { MCP_LIMITS } from "./limits.ts";
import { findMismatch } from "./schema-check.ts";
import { loadSdk, type Sdk } from "./sdk.ts";
import { type LocalService, type ServiceDeps, startService } from "./service.ts";
import { type ListName, Session } from "./session.ts";

export interface ConnectionDeps extends ServiceDeps {
  readonly version: string;
}

export interface Connection {
  readonly session: Session;
  /** Why tools were left out, one line each. */
  readonly dropped: readonly string[];
  /** null: a remote server. */
  readonly servicePid: Pid | null;
  /** Resolves at the end with the reason, in words; never rejects. */
  readonly ended: Promise<string>;
  /** Closes the connection; requests in progress fail. Idempotent; resolves when it has ended completely. */
  close(): Promise<void>;
}

/** Longer than any timeout of ours, so that the library's timers never fire. */
const NEVER_MS = 2 ** 31 - 1;
/** How long we wait for a remote server to delete its session. */
const FAREWELL_MS = 400;

/** Connects to one server, any number of times. */
export class Connector {
  readonly #deps: ConnectionDeps;
  readonly #launch: ServerLaunch;
  /** True once an earlier start showed that the server ends when it is probed for the newer protocol. */
  #isLegacy = false;

  constructor(deps: ConnectionDeps, launch: ServerLaunch) {
    this.#deps = deps;
    this.#launch = launch;
  }

  /**
   * Resolves when the tools are known: a server that has tools but cannot list them is useless. UNAVAILABLE: not
   * connected, with the reason; or rejects with the reason of `signal`. After a rejection everything is stopped.
   */
  async open(signal: AbortSignal): Promise<Connection> {
    const sdk = await abortable(loadSdk(), signal);
    const launch = this.#launch;
    return launch.kind === "local" ? this.#local(sdk, launch, signal) : this.#remote(sdk, launch, signal);
  }

  async #local(sdk: Sdk, launch: LocalLaunch, signal: AbortSignal): Promise<Connection> {
    const service = await startService(this.#deps, launch, signal);
    const { client, session } = begin(sdk, this.#deps);
    let dropped: readonly string[];
    try {
      const prior = this.#isLegacy ? ({ prior: { kind: "legacy" } } as const) : {};
      await abortable(client.connect(service.transport, { timeout: NEVER_MS, ...prior }), signal);
      ({ dropped } = await session.tools(signal));
    } catch (error) {
      // the reason of its end is more useful than the closed pipe
      const { end } = service;
      await service.stop();
      if (signal.aborted) throw lateOrStopped(signal, service);
      const { brokenBy } = service.transport;
      if (brokenBy !== "") throw notConnected(withWords(brokenBy, service), error);
      if (end?.isMissing === false && !this.#isLegacy && client.getProtocolEra() === undefined) {
        this.#isLegacy = true;
        return this.#local(sdk, launch, signal);
      }
      this.#isLegacy = false;
      throw notConnected(end?.words ?? withWords(messageOf(error), service), error);
    }
    const close = async (): Promise<void> => {
      await client.close();
      await service.stop();
    };
    const ended = service.over.then(() => service.end?.words ?? "");
    return { session, dropped, servicePid: service.pid, ended, close };
  }

  async #remote(sdk: Sdk, launch: RemoteLaunch, signal: AbortSignal): Promise<Connection> {
    const { client, session, ended, why } = begin(sdk, this.#deps);
    const how = {
      requestInit: { headers: { "user-agent": `crux/${this.#deps.version}`, ...launch.headers } },
      fetch: boundedFetch(),
    };
    const transport = launch.isSse
      ? new sdk.SSEClientTransport(launch.url, how)
      : new sdk.StreamableHTTPClientTransport(launch.url, how);
    let dropped: readonly string[];
    try {
      await abortable(client.connect(transport, { timeout: NEVER_MS }), signal);
      ({ dropped } = await session.tools(signal));
    } catch (error) {
      await client.close();
      signal.throwIfAborted();
      throw notConnected(remoteWords(sdk, error), error);
    }
    const checker = new Checker(sdk, session, (words) => {
      why.words = words;
      void client.close();
    });
    client.onerror = () => checker.doubt();
    const close = async (): Promise<void> => {
      if ("terminateSession" in transport) await farewell(transport, this.#deps);
      await client.close();
    };
    return { session, dropped, servicePid: null, ended: ended.then(() => why.words), close };
  }
}

/** Finds out by a ping, one at a time, whether the server is still there after a request or a stream failed. */
class Checker {
  readonly #sdk: Sdk;
  readonly #session: Session;
  readonly #lost: (words: string) => void;
  #isChecking = false;

  constructor(sdk: Sdk, session: Session, lost: (words: string) => void) {
    this.#sdk = sdk;
    this.#session = session;
    this.#lost = lost;
  }

  doubt(): void {
    if (this.#isChecking) return;
    this.#isChecking = true;
    this.#session
      .request("ping", undefined, new AbortController().signal)
      .catch((error: unknown) => {
        const cause = error instanceof Error ? error.cause : undefined;
        // a restarted server may answer 400 to an unknown session
        const isForgotten = error instanceof SessionGone || httpStatus(this.#sdk, cause) === 400;
        if (isForgotten || networkErrno(error) !== undefined) this.#lost(`it is gone: ${messageOf(error)}`);
      })
      .finally(() => {
        this.#isChecking = false;
      });
  }
}

function begin(sdk: Sdk, deps: ConnectionDeps) {
  const over = Promise.withResolvers<void>();
  const why = { words: "its connection was closed" };
  const forget = (list: ListName) => ({
    autoRefresh: false,
    debounceMs: 0,
    onChanged: () => session.forget(list),
  });
  const options: ClientOptions = {
    capabilities: {},
    versionNegotiation: { mode: "auto", probe: { timeoutMs: MCP_LIMITS.probeMs } },
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: { getValidator: <T>(schema: unknown) => basicValidator<T>(schema) },
    listChanged: { tools: forget("tools"), resources: forget("resources") },
  };
  const client: Client = new sdk.Client({ name: "crux", version: deps.version }, options);
  client.onclose = () => over.resolve();
  const session: Session = new Session(sdk, client, deps.clock);
  return { client, session, ended: over.promise, why };
}

/** Checks a tool's results like its arguments: by the basics of its schema. */
function basicValidator<T>(schema: unknown): JsonSchemaValidator<T> {
  return (input) => {
    const wrong = findMismatch(schema, input);
    return wrong === undefined
      ? { valid: true, data: input as T, errorMessage: undefined }
      : { valid: false, data: undefined, errorMessage: wrong };
  };
}

/** Ends the session on the server, if there is one; gives up after FAREWELL_MS. */
async function farewell(transport: StreamableHTTPClientTransport, { clock }: ConnectionDeps): Promise<void> {
  if (transport.sessionId === undefined) return;
  const stop = new AbortController();
  const late = clock.sleep(FAREWELL_MS, stop.signal).catch(() => {});
  await Promise.race([transport.terminateSession().catch(() => {}), late]);
  stop.abort();
}

/** A timeout only says what was late; the program's stderr may say why. */
function lateOrStopped({ reason }: AbortSignal, service: LocalService): Error {
  const isLate = reason instanceof DriverError;
  return isLate ? notConnected(withWords(reason.message, service), reason) : cancelled("Open");
}

function withWords(what: string, service: LocalService): string {
  const said = service.said();
  return said === "" ? what : `${what}; it said: ${said}`;
}

function remoteWords(sdk: Sdk, error: unknown): string {
  const status = httpStatus(sdk, error);
  if (status === 401 || status === 403)
    return `the server wants to know who asks (HTTP ${status}): give it a header in its entry`;
  const errno = networkErrno(error);
  return errno === undefined ? messageOf(error) : `no answer (${errno})`;
}

function notConnected(words: string, cause: unknown): Error {
  return driverError("Open", "UNAVAILABLE", words, cause);
}

/** fetch() for a remote server, with its responses read within the bounds of a message. */
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Fails the body of a response if its message, or one event of an event stream, is too long. */
export function boundedFetch(fetchImpl: Fetch = fetch): Fetch {
  return async (url, init) => {
    const response = await fetchImpl(url, init);
    if (response.body === null) return response;
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    const body = response.body.pipeThrough(boundedBytes(isStream));
    const { status, statusText, headers } = response;
    const bounded = new Response(body, { status, statusText, headers });
    // the library checks where a redirect led
    Object.defineProperty(bounded, "url", { value: response.url });
    Object.defineProperty(bounded, "redirected", { value: response.redirected });
    Object.defineProperty(bounded, "type", { value: response.type });
    return bounded;
  };
}

/** Bounds the bytes of a whole body, or of each event of a stream; an event ends at an empty line. */
function boundedBytes(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let isLineStart = false;
  return new TransformStream({
    transform(chunk, controller) {
      if (isStream) ({ bytes, isLineStart } = sinceEvent(chunk, bytes, isLineStart));
      else bytes += chunk.byteLength;
      if (bytes > MCP_LIMITS.messageBytes)
        controller.error(new Error(`it sent a message of more than ${MCP_LIMITS.messageBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}

/** The bytes since the last empty line, and whether the last byte ended a line. */
function sinceEvent(chunk: Uint8Array, before: number, wasLineStart: boolean) {
  let bytes = before;
  let isLineStart = wasLineStart;
  for (const byte of chunk) {
    if (byte === 0x0a) {
      bytes = isLineStart ? 0 : bytes + 1;
      isLineStart = true;
    } else if (byte !== 0x0d) {
      bytes++;
      isLineStart = false;
    }
  }
  return { bytes, isLineStart };
}
