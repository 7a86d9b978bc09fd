/** Requests of /dev/web and their answers: one JSON object written, one read. */

export interface WebRequest {
  /** http or https, at most 2,000 characters, a public host; http is asked for as https. */
  url: string;
  /** `markdown`: a page of HTML as Markdown; other text as it is. Default `raw`. */
  as?: "raw" | "markdown";
  /** Sent with it: `accept` and the like. Names of credentials: INVALID. */
  headers?: Record<string, string>;
}

/** Of /dev/web/search. */
export interface SearchRequest {
  query: string;
  adapter: SearchAdapter;
}

export const SEARCH_ADAPTERS = ["brave", "bing"] as const;
export type SearchAdapter = (typeof SEARCH_ADAPTERS)[number];

/** Where each asks; rules see it as the host of the call. */
export const SEARCH_HOSTS: Readonly<Record<SearchAdapter, string>> = {
  brave: "api.search.brave.com",
  bing: "www.bing.com",
};

export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
}

export interface WebAnswer {
  url: string;
  /** Where it ended, after redirects to the same host. */
  final_url: string;
  status: number;
  /** Without parameters, lower case: `text/html`; "" unknown. */
  content_type: string;
  /** What the server sent, before it was made Markdown. */
  bytes: number;
  /** Of text; null: the bytes lie at `body_path`. */
  text: string | null;
  /** Under /var/out; null: `text` has it. */
  body_path: string | null;
  /** The page leads to another host, which was not asked: a call of its own. */
  redirect_url: string | null;
  cached: boolean;
  duration_ms: number;
}
