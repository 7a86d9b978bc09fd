/** One page from request to answer: from the cache or the net, as text or as a file under /var/out. */
import type { CallId, ProcUuid } from "../../abi/ids.ts";
import type { Clock } from "../../abi/program.ts";
import type { SearchAdapter, WebAnswer } from "../../abi/web-ops.ts";
import { linkSignals } from "../../lib/abort.ts";
import { driverError, unreadError } from "../driver-error.ts";
import type { OutputStore } from "../out/output-store.ts";
import type { CachedPage, PageCache } from "./cache.ts";
import { follow } from "./follow.ts";
import { htmlToMarkdown } from "./markdown.ts";
import type { WebPorts } from "./ports.ts";
import type { WebRun } from "./request.ts";

export interface WebDeps {
  readonly ports: WebPorts;
  readonly cache: PageCache;
  readonly outputs: Pick<OutputStore, "openOutput">;
  readonly clock: Pick<Clock, "mono" | "sleep">;
  readonly version: string;
  /** In the place of the adapters' own: of tests. */
  readonly searchOrigins?: Readonly<Partial<Record<SearchAdapter, string>>>;
  /** Hosts with port of this network, `localhost:3000`, that the user's settings name. */
  isPrivate(hostAndPort: string): boolean;
}

interface PageCall {
  readonly run: WebRun;
  readonly uuid: ProcUuid;
  readonly callId: CallId;
  readonly signal: AbortSignal;
}

const MAX_MS = 60_000;
const MAX_ERROR_CHARS = 2_000;

/** DRIVER: a status from 400 on, with the first of what the server said. TIMEOUT after 60 s. */
export async function fetchPage(deps: WebDeps, call: PageCall): Promise<WebAnswer> {
  const { run } = call;
  const beganMs = deps.clock.mono();
  const kept = deps.cache.get(keyOf(run));
  const found = kept === undefined ? await load(deps, call) : { page: kept, redirect: null };
  const { page, redirect } = found;
  if (page.status >= 400) throw refusedBy(page, run.url.href);
  const text = await textOf(page, run.as, call.signal);
  return {
    url: run.written,
    final_url: page.finalUrl,
    status: page.status,
    content_type: page.contentType,
    bytes: page.body.byteLength,
    text: redirect === null ? text : "",
    body_path: redirect === null && text === null ? keep(deps, call, page) : null,
    redirect_url: redirect,
    cached: kept !== undefined,
    duration_ms: Math.round(deps.clock.mono() - beganMs),
  };
}

async function load(deps: WebDeps, { run, signal }: PageCall) {
  const late = new AbortController();
  const over = new AbortController();
  deps.clock.sleep(MAX_MS, over.signal).then(
    () => late.abort(),
    () => {},
  );
  using linked = linkSignals(signal, late.signal);
  try {
    const headers = {
      "user-agent": `Crux/${deps.version}`,
      accept: "text/html, text/*;q=0.9, */*;q=0.5",
      ...run.headers,
    };
    const { isPrivate } = deps;
    const { last, answer, redirect } = await follow(run.url, {
      ports: deps.ports,
      headers,
      signal: linked.signal,
      isPrivate,
    });
    const contentType = (answer.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
    const page = { finalUrl: last.href, status: answer.status, contentType, body: answer.body };
    if (answer.status === 200) deps.cache.put(keyOf(run), page);
    return { page, redirect };
  } catch (error) {
    if (late.signal.aborted && !signal.aborted)
      throw unreadError(
        "Write",
        "TIMEOUT",
        `web: ${run.url.host} did not answer within ${MAX_MS / 1000} s`,
        error,
      );
    throw error;
  } finally {
    over.abort();
  }
}

function keyOf({ url, headers }: WebRun): string {
  return `${url.href}\n${JSON.stringify(headers)}`;
}

function refusedBy({ status, finalUrl, body, contentType }: CachedPage, asked: string): Error {
  const said = isText(contentType, body)
    ? body.toString("utf8").slice(0, MAX_ERROR_CHARS).toWellFormed()
    : "";
  const words = said.trim() === "" ? "" : `: ${said}`;
  // where a redirect led is the server's word as well
  const isSilent = words === "" && finalUrl === asked;
  const message = `web: ${finalUrl} answered ${status}${words}`;
  return (isSilent ? unreadError : driverError)("Write", "DRIVER", message);
}

/** null: it is no text. */
async function textOf(page: CachedPage, as: WebRun["as"], signal: AbortSignal): Promise<string | null> {
  const { body, contentType } = page;
  if (!isText(contentType, body)) return null;
  const text = body.toString("utf8");
  const isHtml = contentType === "text/html" || contentType === "application/xhtml+xml";
  return as === "markdown" && isHtml ? htmlToMarkdown(text, signal) : text;
}

function isText(type: string, body: Buffer): boolean {
  if (body.subarray(0, 8_192).includes(0)) return false;
  return type === "" || type.startsWith("text/") || /(json|xml|javascript|yaml|x-sh|toml|csv)$/.test(type);
}

function keep(deps: WebDeps, { uuid, callId }: PageCall, page: CachedPage): string {
  const file = deps.outputs.openOutput(uuid, callId);
  file.write(page.body);
  file.end();
  return file.path;
}
