import { expect, onTestFinished, test } from "vitest";
import { Bench, textOf } from "../testing/bench.ts";
import { adapterOf, webSearch } from "./web_search.ts";

const RESULTS = [
  { title: "Streams [Node]", url: "https://nodejs.org/api/stream.html", snippet: "A stream is …" },
  { title: "Blog", url: "https://blog.nodejs.org/x", snippet: "News" },
  { title: "Other", url: "https://evilnodejs.org/", snippet: "No" },
];

function bench() {
  const made = new Bench([webSearch]);
  onTestFinished(() => made[Symbol.dispose]());
  made.other = () => RESULTS;
  return made;
}

test.each([
  [{}, "bing"],
  [{ BRAVE_API_KEY: "k" }, "brave"],
  [{ BRAVE_API_KEY: "k", CRUX_WEB_SEARCH_ADAPTER: "bing" }, "bing"],
  [{ CRUX_WEB_SEARCH_ADAPTER: "brave" }, "brave"],
])("adapterOf(%j) is %s", (env, adapter) => {
  expect(adapterOf({ env })).toBe(adapter);
});

test("web_search asks at its adapter's host", async () => {
  const { effects } = await bench().plan("web_search", { query: "x" });
  expect(effects).toEqual([{ kind: "network", host: "www.bing.com", port: 443, method: "GET" }]);
});

test("web_search filters by domain on label borders, whatever the adapter did", async () => {
  const made = bench();
  const allowed = await made.call("web_search", { query: "x", allowed_domains: ["nodejs.org"] });
  expect(allowed.meta?.results).toEqual(RESULTS.slice(0, 2));
  const blocked = await made.call("web_search", { query: "x", blocked_domains: ["nodejs.org"] });
  expect(blocked.meta?.results).toEqual(RESULTS.slice(2));
  expect(textOf(allowed)).toContain("- [Streams Node](https://nodejs.org/api/stream.html)\n  A stream is …");
  expect(textOf(allowed)).toMatch(/^<foreign-text from="web search by bing">/);
});

test("web_search refuses both lists, and an adapter that there is not", async () => {
  const made = bench();
  const both = { query: "x", allowed_domains: ["a.io"], blocked_domains: ["b.io"] };
  await expect(made.plan("web_search", both)).rejects.toMatchObject({ code: "INVALID" });
  made.caller = { ...made.caller, env: { CRUX_WEB_SEARCH_ADAPTER: "yahoo" } };
  await expect(made.plan("web_search", { query: "x" })).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
