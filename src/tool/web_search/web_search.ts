/** web_search: web results for a query, from the adapter chosen by the environment. */
import * as z from "zod";
import { O_RDWR } from "../../abi/device.ts";
import { SEARCH_ADAPTERS, SEARCH_HOSTS, type SearchAdapter, type SearchResult } from "../../abi/ops/web.ts";
import { failure } from "../failure.ts";
import { readToEnd, withFile } from "../files.ts";
import { foreignText } from "../foreign-text.ts";
import { defineTool, type Outcome, type RunContext, type Scope } from "../tool.ts";
import text from "./web_search.md";

const MAX_ANSWER_BYTES = 1024 * 1024;
const domains = z.array(z.string().min(1).max(253)).max(20).optional();

const Args = z.object({
  query: z.string().min(1).max(400),
  allowed_domains: domains,
  blocked_domains: domains,
});
type Args = z.output<typeof Args>;

export const webSearch = defineTool({
  name: "web_search",
  hint: "search the internet for pages",
  text,
  args: Args,
  listed: "deferred",
  compactable: true,
  parallel: true,
  readOnly: true,
  effects: (args, scope) => {
    checkDomains(args);
    return [{ kind: "network", host: SEARCH_HOSTS[adapterOf(scope)], port: 443, method: "GET" }];
  },
  view: (args) => ({ operation: `search the web: ${args.query}`, params: { ...args } }),
  about: (args) => args.query,
  activity: (args) => `Searching ${args.query}`,
  run,
});

function checkDomains({ allowed_domains, blocked_domains }: Args): void {
  if ((allowed_domains?.length ?? 0) > 0 && (blocked_domains?.length ?? 0) > 0)
    throw failure("INVALID", "web_search: allowed_domains and blocked_domains exclude each other");
}

/** INVALID: the environment names an unknown adapter. */
export function adapterOf({ env }: Pick<Scope, "env">): SearchAdapter {
  const named = env.CRUX_WEB_SEARCH_ADAPTER ?? "";
  const found = SEARCH_ADAPTERS.find((adapter) => adapter === named);
  if (found !== undefined) return found;
  if (named !== "")
    throw failure(
      "UNAVAILABLE",
      `web_search: no such adapter: ${named}`,
      `Set CRUX_WEB_SEARCH_ADAPTER to ${SEARCH_ADAPTERS.join(" or ")}`,
    );
  return (env.BRAVE_API_KEY ?? "") === "" ? "bing" : "brave";
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const adapter = adapterOf(context);
  const { query } = args;
  context.progress({ output: `query: ${query}` });
  const all = await search(context, { query, adapter });
  const results = all.filter((result) => isWanted(args, result));
  context.progress({ output: `${results.length} results` });
  const lines = results.map(
    ({ title, url, snippet }) => `- [${title.replaceAll(/[[\]]/g, "")}](${url})\n  ${snippet}`,
  );
  const facts = { count: { n: results.length, of: "result" } } as const;
  const found =
    lines.length === 0 ? "No results" : `${lines.join("\n")}\n\nName the pages you use as sources.`;
  return { text: foreignText(`web search by ${adapter}`, found), meta: { results, adapter }, facts };
}

async function search(
  context: RunContext,
  request: { query: string; adapter: SearchAdapter },
): Promise<SearchResult[]> {
  return withFile(context, "/dev/web/search", O_RDWR, async (fd) => {
    await context.sys.write(fd, Buffer.from(JSON.stringify(request)), context.signal);
    return JSON.parse((await readToEnd(context, fd, MAX_ANSWER_BYTES)).toString("utf8")) as SearchResult[];
  });
}

/** Checked here too, whatever the adapter did with the domain lists. */
function isWanted({ allowed_domains = [], blocked_domains = [] }: Args, { url }: SearchResult): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname.toLowerCase() : "";
  const isIn = (domain: string) => host === domain.toLowerCase() || host.endsWith(`.${domain.toLowerCase()}`);
  if (host === "" || blocked_domains.some(isIn)) return false;
  return allowed_domains.length === 0 || allowed_domains.some(isIn);
}
