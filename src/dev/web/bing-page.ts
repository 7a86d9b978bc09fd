/** Extracts the results from a Bing result page by its CSS classes (as of November 2026; Bing may change them). */
import domino, { type HtmlNode } from "@mixmark-io/domino";
import type { SearchResult } from "../../abi/ops/web.ts";

const MAX_RESULTS = 10;
/** Selectors of the text under a result, the best first. */
const SNIPPETS = ["p[class^='b_lineclamp']", ".b_caption p", ".b_caption"];

/** null: not a result page, or not a readable one. */
export function bingResults(html: string): SearchResult[] | null {
  const document = domino.createDocument(html);
  const items = [...document.querySelectorAll("li.b_algo")];
  if (items.length === 0) return (document.querySelector("#b_results, .b_no") ?? null) === null ? null : [];
  return items.flatMap(resultOf).slice(0, MAX_RESULTS);
}

function resultOf(item: HtmlNode): SearchResult[] {
  const link = item.querySelector("h2 a");
  const url = targetUrl(link?.getAttribute("href") ?? "");
  if (link === null || url === undefined) return [];
  const words = SNIPPETS.map((place) => item.querySelector(place)?.textContent ?? "").find(
    (text) => text.trim() !== "",
  );
  return [{ title: plain(link.textContent ?? ""), url, snippet: plain(words ?? "") }];
}

/**
 * The target of a result link. Bing links to a redirect page of its own: its parameter `u` holds the address in
 * base64, after `a1`.
 */
export function targetUrl(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  const packed = /^a[01](.+)$/.exec(url.searchParams.get("u") ?? "")?.[1];
  const isBing = /(^|\.)bing\.com$/.test(url.hostname) && url.pathname.startsWith("/ck/");
  if (!isBing) return /^https?:$/.test(url.protocol) ? url.href : undefined;
  const text = packed === undefined ? "" : Buffer.from(packed, "base64url").toString("utf8");
  return URL.canParse(text) && /^https?:/.test(text) ? new URL(text).href : undefined;
}

const plain = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, 500).toWellFormed();
