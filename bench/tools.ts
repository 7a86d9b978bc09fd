/**
 * What looking for tools costs, in one run:
 *   node bench/tools.ts
 * 1,000 tools of 20 servers. The baseline of a search is a linear look for the words as substrings in names and descriptions,
 * which finds less and ranks nothing. The index is made once for each set of tools.
 */
import type { Entry } from "../src/agent/deferred/entry.ts";
import { DEFAULT_WEIGHTS, RankIndex } from "../src/agent/deferred/rank.ts";
import { termsOf } from "../src/agent/deferred/terms.ts";
import { printTable, type Row } from "./table.ts";

const TOOLS = Number(process.env.CRUX_BENCH_TOOLS ?? 1_000);
const ROUNDS = 2_000;
const VERBS = "create list get update delete search send export archive assign".split(" ");
const NOUNS = "issue channel message file page invoice customer ticket branch build".split(" ");
const PLACES = "slack github linear notion stripe jira figma gitlab sentry zendesk".split(" ");

const entries = Array.from({ length: TOOLS }, (_, i): Entry => {
  const [verb, noun, place] = [
    VERBS[i % 10],
    NOUNS[Math.floor(i / 10) % 10],
    PLACES[Math.floor(i / 100) % 10],
  ];
  const server = `${place}${i % 2}`;
  return {
    name: `mcp__${server}__${verb}_${noun}`,
    description: `Can ${verb} one ${noun} of the ${place} workspace, with its owner, labels and dates. Needs its id.`,
    inputSchema: { type: "object", properties: { id: { type: "string" } } },
    path: `/mnt/mcp/${server}/tools/${verb}_${noun}`,
    parallel: false,
    hint: "",
    server,
  };
});
const QUERIES = ["send slack message", "archive the invoices of a customer", "github issue", "天气", "figma"];

const made = timed(5, () => new RankIndex(entries));
const index = new RankIndex(entries);
const searched = timed(ROUNDS, (i) =>
  index.rank(termsOf(QUERIES[i % QUERIES.length] as string), DEFAULT_WEIGHTS),
);
const linear = timed(ROUNDS, (i) => scan(QUERIES[i % QUERIES.length] as string));
const rows: Row[] = [
  [`index of ${TOOLS} tools, ms`, made.toFixed(1), "", ""],
  [
    "one search, ms",
    searched.toFixed(3),
    `${linear.toFixed(3)} (substrings)`,
    `${(searched / linear).toFixed(2)}x`,
  ],
];
printTable(["what", "figure", "baseline", "ratio"], rows);

function scan(query: string): readonly Entry[] {
  const words = query.toLowerCase().split(" ");
  return entries.filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return words.some((word) => text.includes(word));
  });
}

/** Milliseconds of one round, the median of all. */
function timed(rounds: number, act: (round: number) => unknown): number {
  const times = Array.from({ length: rounds }, (_, i) => {
    const began = performance.now();
    act(i);
    return performance.now() - began;
  });
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)] as number;
}
