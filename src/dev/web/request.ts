/** Parses a written request. INVALID: not a valid request. */
import { SEARCH_ADAPTERS, type SearchRequest, type WebRequest } from "../../abi/ops/web.ts";
import { driverError } from "../driver-error.ts";
import { type PageUrl, parsePageUrl } from "./page-url.ts";

export interface WebRun {
  readonly url: PageUrl;
  readonly written: string;
  readonly as: "raw" | "markdown";
  readonly headers: Readonly<Record<string, string>>;
}

/** INVALID: not a valid search request. */
export function parseSearchRequest(bytes: Uint8Array): SearchRequest {
  const { query, adapter } = parseObject(bytes) as Partial<SearchRequest>;
  if (typeof query !== "string" || query.trim() === "" || query.length > MAX_QUERY_CHARS)
    throw invalid(`query: 1 to ${MAX_QUERY_CHARS} characters`);
  if (adapter === undefined || !SEARCH_ADAPTERS.includes(adapter))
    throw invalid(`adapter: one of ${SEARCH_ADAPTERS.join(", ")}`);
  return { query, adapter };
}

const MAX_QUERY_CHARS = 400;
const KEYS = new Set(["url", "as", "headers"]);
/** Headers that a request may set; a call must not send credentials. */
const HEADERS = new Set(["accept", "accept-language"]);
const MAX_VALUE_CHARS = 500;

export function parseWebRequest(bytes: Uint8Array, isPrivate: (hostAndPort: string) => boolean): WebRun {
  const value = parseObject(bytes);
  const unknown = Object.keys(value).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw invalid(`unknown key ${JSON.stringify(unknown)}`);
  const { url, as = "raw", headers = {} } = value as Partial<WebRequest>;
  if (typeof url !== "string") throw invalid("url is required");
  if (as !== "raw" && as !== "markdown") throw invalid("as must be raw or markdown");
  return { url: parsePageUrl(url, isPrivate), written: url, as, headers: checkedHeaders(headers) };
}

function checkedHeaders(headers: unknown): Readonly<Record<string, string>> {
  if (typeof headers !== "object" || headers === null) throw invalid("headers must be an object");
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]: [string, unknown]) => {
      const key = name.toLowerCase();
      if (!HEADERS.has(key)) throw invalid(`header ${JSON.stringify(name)} cannot be sent`);
      if (typeof value !== "string" || value.length > MAX_VALUE_CHARS || /[^\t\x20-\x7e]/.test(value))
        throw invalid(`header ${name}: not a value`);
      return [key, value];
    }),
  );
}

function parseObject(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    throw driverError("Write", "INVALID", "web: the request is not JSON", error);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("one JSON object");
  return value as Record<string, unknown>;
}

function invalid(why: string): Error {
  return driverError("Write", "INVALID", `web: ${why}`);
}
