import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../lib/time/system-clock.ts";
import { bingResults, targetUrl } from "./bing-page.ts";
import { PageCache } from "./cache.ts";
import { WebSearch } from "./search.ts";
import { type Site, type TestWeb, testWeb } from "./testing.ts";

const packed = (url: string) =>
  `https://www.bing.com/ck/a?!&&p=1&u=a1${Buffer.from(url).toString("base64url")}&ntb=1`;
const PAGE = `<html><body><ol id="b_results">
<li class="b_algo"><h2><a href="${packed("https://nodejs.org/api/")}">Node <b>API</b></a></h2><div class="b_caption"><p class="b_lineclamp2">All of the
 API.</p></div></li>
<li class="b_algo"><h2><a href="https://direct.io/x">Direct</a></h2><div class="b_caption"><p>Second.</p></div></li>
<li class="b_algo"><h2><a href="javascript:alert(1)">Bad</a></h2></li>
<li class="b_algo"><h2><a href="https://last.io/">Last</a></h2><div class="b_caption">Only words.</div></li>
<li class="b_ad"><h2><a href="https://ad.io/">Ad</a></h2></li></ol></body></html>`;
const FOUND = [
  { title: "Node API", url: "https://nodejs.org/api/", snippet: "All of the API." },
  { title: "Direct", url: "https://direct.io/x", snippet: "Second." },
  { title: "Last", url: "https://last.io/", snippet: "Only words." },
];

let web: TestWeb | undefined;
afterEach(async () => {
  await web?.[Symbol.asyncDispose]();
});

async function search(site: Site, adapter: "bing" | "brave", env: Record<string, string> = {}) {
  web = await testWeb(site);
  const { ports, isPrivate } = web;
  const cache = new PageCache(() => 0);
  const deps = {
    ports,
    isPrivate,
    cache,
    outputs: { openOutput: () => ({}) as never },
    clock: systemClock,
    version: "1",
  };
  const searchOrigins = { bing: web.url("bing.example", ""), brave: web.url("brave.example", "") };
  const { signal } = new AbortController();
  return new WebSearch({ ...deps, searchOrigins }, env, signal).run({ query: "a b&c", adapter });
}

describe("bing", () => {
  it("reads the results of a page in a thread of its own", async () => {
    expect(await search((_request, response) => response.end(PAGE), "bing")).toEqual(FOUND);
    expect(web?.asked).toEqual(["bing.example/search?q=a%20b%26c&setmkt=en-US"]);
  });

  it("tells a page without results from one that cannot be read", async () => {
    expect(bingResults('<ol id="b_results"></ol>')).toEqual([]);
    const captcha = search((_request, response) => response.end("<p>Are you human?</p>"), "bing");
    await expect(captcha).rejects.toMatchObject({ code: "DRIVER" });
  });

  it.each([
    [packed("https://a.io/x?y=1"), "https://a.io/x?y=1"],
    [`https://www.bing.com/ck/a?u=a0${Buffer.from("http://a.io/").toString("base64")}`, "http://a.io/"],
    [packed("javascript:x"), undefined],
    ["https://www.bing.com/ck/a?p=1", undefined],
    ["/relative", undefined],
  ])("targetUrl(%s)", (href, url) => {
    expect(targetUrl(href)).toBe(url);
  });
});

describe("brave", () => {
  const rows = {
    grounding: {
      generic: [{ url: "https://a.io/", title: "A", snippets: ["one", "two"] }, { title: "no url" }],
    },
  };

  it("sends the key of the caller's environment, and reads the results", async () => {
    let key: unknown;
    const site: Site = (request, response) => {
      key = request.headers["x-subscription-token"];
      response.end(JSON.stringify(rows));
    };
    expect(await search(site, "brave", { BRAVE_API_KEY: "secret" })).toEqual([
      { title: "A", url: "https://a.io/", snippet: "one" },
    ]);
    expect(key).toBe("secret");
  });

  it.each([
    [{}, "", "UNAVAILABLE"],
    [{ BRAVE_API_KEY: "k" }, "nonsense", "DRIVER"],
  ])("with %j and %j is %s", async (env, body, code) => {
    await expect(search((_request, response) => response.end(body), "brave", env)).rejects.toMatchObject({
      code,
    });
  });
});
