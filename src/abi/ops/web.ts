/** Requests of /dev/web and their answers: one JSON object written, one read. */

export interface WebRequest {
  /** http or https, at most 2,000 characters, a public host; http URLs are fetched by https. */
  url: string;
  /** `markdown`: a page of HTML as Markdown; other text as it is. Default `raw`. */
  as?: "raw" | "markdown";
  /** Request headers, such as `accept`. INVALID: a header for credentials. */
  headers?: Record<string, string>;
}

/** A request of /dev/web/search. */
export interface SearchRequest {
  query: string;
  adapter: SearchAdapter;
}

export const SEARCH_ADAPTERS = ["brave", "bing"] as const;
export type SearchAdapter = (typeof SEARCH_ADAPTERS)[number];

/** The host that each adapter queries; rules see it as the host of the call. */
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
  /** The final URL, after redirects on the same host. */
  final_url: string;
  status: number;
  /** The media type in lower case without parameters: `text/html`; "": unknown. */
  content_type: string;
  /** What the server sent, before it was made Markdown. */
  bytes: number;
  /** The body, if it is text; null: the bytes are stored at `body_path`. */
  text: string | null;
  /** A path under /var/out; null: the body is in `text`. */
  body_path: string | null;
  /** The page redirects to another host. The redirect was not followed: it needs a call of its own. */
  redirect_url: string | null;
  cached: boolean;
  duration_ms: number;
}
