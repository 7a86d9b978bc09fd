/** A search by one of the adapters: a page of Bing, or the LLM context API of Brave (https://api.search.brave.com). */
import { SEARCH_HOSTS, type SearchRequest, type SearchResult } from "../../abi/web-ops.ts";
import { driverError } from "../driver-error.ts";
import { exchange } from "./exchange.ts";
import { readHtml } from "./html-job.ts";
import type { WebDeps } from "./page.ts";
import { parsePageUrl } from "./page-url.ts";

const MAX_RESULTS = 10;
const MAX_MS = 30_000;

/** UNAVAILABLE: the adapter needs a key. DRIVER: an answer that cannot be read is no empty success. */
export async function searchWeb(
  deps: WebDeps,
  { query, adapter }: SearchRequest,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly SearchResult[]> {
  const late = AbortSignal.timeout(MAX_MS);
  const within = AbortSignal.any([signal, late]);
  try {
    return adapter === "brave" ? await brave(deps, query, env, within) : await bing(deps, query, within);
  } catch (error) {
    if (late.aborted && !signal.aborted)
      throw driverError(
        "Write",
        "TIMEOUT",
        `web: ${adapter} did not answer within ${MAX_MS / 1000} s`,
        error,
      );
    throw error;
  }
}

async function bing(deps: WebDeps, query: string, signal: AbortSignal): Promise<readonly SearchResult[]> {
  const headers = { accept: "text/html", "accept-language": "en-US,en;q=0.9" };
  const url = `${originOf(deps, "bing")}/search?q=${encodeURIComponent(query)}&setmkt=en-US`;
  const html = (await get(deps, url, headers, signal)).toString("utf8");
  const results = await readHtml<SearchResult[] | null>({ kind: "bing", html }, signal);
  if (results === undefined || results === null)
    throw driverError("Write", "DRIVER", "web: bing gave a page that is not one of results");
  return results;
}

async function brave(
  deps: WebDeps,
  query: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly SearchResult[]> {
  const key = env.BRAVE_API_KEY ?? "";
  if (key === "")
    throw driverError("Write", "UNAVAILABLE", "web: brave needs BRAVE_API_KEY in the environment");
  const headers = { accept: "application/json", "x-subscription-token": key };
  const url = `${originOf(deps, "brave")}/res/v1/llm/context?q=${encodeURIComponent(query)}`;
  const body = await get(deps, url, headers, signal);
  const rows = braveRows(body.toString("utf8"));
  if (rows === undefined)
    throw driverError("Write", "DRIVER", "web: brave gave an answer that cannot be read");
  return rows.slice(0, MAX_RESULTS);
}

/** `grounding.generic`: url, title, snippets. */
function braveRows(text: string): SearchResult[] | undefined {
  try {
    const { grounding } = JSON.parse(text) as { grounding?: { generic?: unknown } };
    if (!Array.isArray(grounding?.generic)) return undefined;
    return grounding.generic.flatMap(({ url, title, snippets }: Record<string, unknown>) =>
      typeof url === "string"
        ? [
            {
              url,
              title: String(title ?? url),
              snippet: Array.isArray(snippets) ? String(snippets[0] ?? "") : "",
            },
          ]
        : [],
    );
  } catch {
    return undefined;
  }
}

async function get(
  deps: WebDeps,
  href: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Buffer> {
  const url = parsePageUrl(href, deps.isPrivate);
  const isPrivate = deps.isPrivate(`${url.host}:${url.port}`);
  const all = { "user-agent": `Crux/${deps.version}`, ...headers };
  const { status, body } = await exchange({ url, headers: all, ports: deps.ports, isPrivate, signal });
  if (status === 200) return body;
  throw driverError("Write", "DRIVER", `web: ${url.host} answered ${status}`);
}

function originOf(deps: WebDeps, adapter: SearchRequest["adapter"]): string {
  return deps.searchOrigins?.[adapter] ?? `https://${SEARCH_HOSTS[adapter]}`;
}
