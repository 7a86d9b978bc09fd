/**
 * Converts HTML in a separate thread: a page made to keep its reader busy, or to fill its memory, ends only this
 * thread. The job is passed in `workerData` and answered with one message.
 */
import { parentPort, workerData } from "node:worker_threads";
import Turndown from "turndown";
import { bingResults } from "./bing-page.ts";
import type { HtmlJob } from "./html-job.ts";

const converter = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
converter.remove(["script", "style", "noscript", "template", "iframe", "object", "svg" as "canvas", "head"]);
// a text reader cannot use an image, and its data may be long
converter.addRule("images", {
  filter: "img",
  replacement: (_content, node) => {
    const text =
      (node as unknown as { getAttribute(name: string): string | null }).getAttribute("alt")?.trim() ?? "";
    return text === "" ? "" : `[image: ${text}]`;
  },
});

function markdown(html: string): string {
  return converter
    .turndown(html)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const { kind, html } = workerData as HtmlJob;
parentPort?.postMessage(kind === "markdown" ? markdown(html) : bingResults(html));
