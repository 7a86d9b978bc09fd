/**
 * A search through one of the adapters: a Bing result page, or the LLM context API of Brave
 * (https://api.search.brave.com).
 */
import { SEARCH_HOSTS, type SearchRequest, type SearchResult } from "../../abi/ops/web.ts";
import { driverError } from "../driver-error.ts";
import { exchange } from "./exchange.ts";
import { readHtml } from "./html-job.ts";
import type { WebDeps } from "./page.ts";
import { parsePageUrl } from "./page-url.ts";

const MAX_RESULTS = 10;
const MAX_MS = 30_000;

export class WebSearch {
  readonly #deps: WebDeps;
  readonly #env: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;
  readonly #late = AbortSignal.timeout(MAX_MS);
  readonly #within: AbortSignal;

  constructor(deps: WebDeps, env: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.#deps = deps;
    this.#env = env;
    this.#signal = signal;
    this.#within = AbortSignal.any([signal, this.#late]);
  }

  /**
   * UNAVAILABLE: the adapter needs a key. DRIVER: no answer, or an unreadable one, which does not count as an empty
   * result. TIMEOUT: after 30 s.
   */
  async run({ query, adapter }: SearchRequest): Promise<readonly SearchResult[]> {
    try {
      return adapter === "brave" ? await this.#brave(query) : await this.#bing(query);
    } catch (error) {
      if (!this.#late.aborted || this.#signal.aborted) throw error;
      const message = `web: ${adapter} did not answer within ${MAX_MS / 1000} s`;
      throw driverError("Write", "TIMEOUT", message, error);
    }
  }

  async #bing(query: string): Promise<readonly SearchResult[]> {
    const headers = { accept: "text/html", "accept-language": "en-US,en;q=0.9" };
    const url = `${this.#origin("bing")}/search?q=${encodeURIComponent(query)}&setmkt=en-US`;
    const html = (await this.#get(url, headers)).toString("utf8");
    const results = await readHtml<SearchResult[] | null>({ kind: "bing", html }, this.#within);
    if (results === undefined || results === null)
      throw driverError("Write", "DRIVER", "web: bing gave a page that is not one of results");
    return results;
  }

  async #brave(query: string): Promise<readonly SearchResult[]> {
    const key = this.#env.BRAVE_API_KEY ?? "";
    if (key === "")
      throw driverError("Write", "UNAVAILABLE", "web: brave needs BRAVE_API_KEY in the environment");
    const headers = { accept: "application/json", "x-subscription-token": key };
    const url = `${this.#origin("brave")}/res/v1/llm/context?q=${encodeURIComponent(query)}`;
    const rows = braveRows((await this.#get(url, headers)).toString("utf8"));
    if (rows === undefined)
      throw driverError("Write", "DRIVER", "web: brave gave an answer that cannot be read");
    return rows.slice(0, MAX_RESULTS);
  }

  async #get(href: string, own: Readonly<Record<string, string>>): Promise<Buffer> {
    const { isPrivate: isPrivateHost, version, ports } = this.#deps;
    const url = parsePageUrl(href, isPrivateHost);
    const isPrivate = isPrivateHost(`${url.host}:${url.port}`);
    const headers = { "user-agent": `Crux/${version}`, ...own };
    const { status, body } = await exchange({ url, headers, ports, isPrivate, signal: this.#within });
    if (status === 200) return body;
    throw driverError("Write", "DRIVER", `web: ${url.host} answered ${status}`);
  }

  #origin(adapter: SearchRequest["adapter"]): string {
    return this.#deps.searchOrigins?.[adapter] ?? `https://${SEARCH_HOSTS[adapter]}`;
  }
}

/** The entries of `grounding.generic`: url, title, snippets. undefined: not readable. */
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
