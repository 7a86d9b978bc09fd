/** Fetches one page, from request to answer: from the cache or the network, as text or as a file under /var/out. */
import type { CallId, ProcUuid } from "../../abi/ids.ts";
import type { SearchAdapter, WebAnswer } from "../../abi/ops/web.ts";
import type { Clock } from "../../abi/program.ts";
import { linkSignals } from "../../lib/abort.ts";
import { driverError, unreadError } from "../driver-error.ts";
import type { OutputStore } from "../out/output-store.ts";
import type { CachedPage, PageCache } from "./cache.ts";
import { type Exchange, exchange } from "./exchange.ts";
import { readHtml } from "./html-job.ts";
import { type PageUrl, parsePageUrl } from "./page-url.ts";
import type { WebPorts } from "./ports.ts";
import type { WebRun } from "./request.ts";

export interface WebDeps {
  readonly ports: WebPorts;
  readonly cache: PageCache;
  readonly outputs: Pick<OutputStore, "openOutput">;
  readonly clock: Pick<Clock, "mono" | "sleep">;
  readonly version: string;
  /** Origins used instead of the adapters' own, in tests. */
  readonly searchOrigins?: Readonly<Partial<Record<SearchAdapter, string>>>;
  /** True for a host with port in this network, such as `localhost:3000`, that the user's settings name. */
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

/** DRIVER: a status of 400 or above, with the start of the server's text. TIMEOUT: after 60 s. */
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
  // the target of a redirect is foreign text as well
  const isSilent = words === "" && finalUrl === asked;
  const message = `web: ${finalUrl} answered ${status}${words}`;
  return (isSilent ? unreadError : driverError)("Write", "DRIVER", message);
}

/** null: the body is not text. */
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

/**
 * Bound on the redirects followed for a page. Only redirects on the same host are followed; one to another host is
 * reported and needs a call of its own.
 */
const MAX_REDIRECTS = 10;

interface Followed {
  readonly last: PageUrl;
  readonly answer: Exchange;
  /** The target of a redirect to another host; null: none. */
  readonly redirect: string | null;
}

interface Fetching {
  readonly ports: WebPorts;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  isPrivate(hostAndPort: string): boolean;
}

async function follow(first: PageUrl, fetching: Fetching): Promise<Followed> {
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const isPrivate = fetching.isPrivate(`${url.host}:${url.port}`);
    const answer = await exchange({ ...fetching, url, isPrivate });
    checkProxy(answer);
    const location = answer.status >= 300 && answer.status < 400 ? answer.headers.location : undefined;
    if (location === undefined) return { last: url, answer, redirect: null };
    const next = target(url, location, fetching);
    if (!isSameHost(url, next)) return { last: url, answer, redirect: next.href };
    url = next;
  }
  throw driverError("Write", "DRIVER", `web: ${first.host}: more than ${MAX_REDIRECTS} redirects`);
}

/** Checks the target of a redirect like a requested URL. */
function target(from: PageUrl, location: string, { isPrivate }: Fetching): PageUrl {
  const href = URL.canParse(location, from.href) ? new URL(location, from.href).href : location;
  return parsePageUrl(href, isPrivate);
}

function isSameHost(a: PageUrl, b: PageUrl): boolean {
  const bare = ({ host }: PageUrl) => host.replace(/^www\./, "");
  return (
    bare(a) === bare(b) && (a.port === b.port || (a.protocol !== b.protocol && isUsual(a) && isUsual(b)))
  );
}

const isUsual = ({ port }: PageUrl): boolean => port === 80 || port === 443;

function checkProxy({ headers }: Exchange): void {
  if (headers["x-proxy-error"] !== "blocked-by-allowlist") return;
  const proxy = headers.via ?? headers.server ?? "the proxy of this network";
  throw driverError("Write", "PERMISSION", `web: ${proxy} does not let this host through`);
}

/**
 * The text without its tags, if no better conversion is possible: nested too deeply, too slow, or not HTML at all.
 */
export function plainText(html: string): string {
  return html
    .replace(/<(script|style|noscript|template)\b[\s\S]*?<\/\1\s*>/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/&(nbsp|amp|lt|gt|quot|#39);/g, (_all, name: string) => ENTITIES[name] ?? " ")
    .replace(/[ \t]+/g, " ")
    .replace(/\s*\n\s*/g, "\n")
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: " ",
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
};

/** Rejects only when the signal fires. */
async function htmlToMarkdown(html: string, signal: AbortSignal): Promise<string> {
  return (await readHtml<string>({ kind: "markdown", html }, signal)) ?? plainText(html.slice(0, MAX_CHARS));
}

const MAX_CHARS = 2 * 1024 * 1024;
