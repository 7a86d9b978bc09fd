/** Where the time of a turn goes: each moment belongs to the first of the stages that was at work in it. */
import type { Span, TimedPart } from "../doubles/timed-ports.ts";
import { median, type Row } from "../table.ts";
import type { Exchange } from "./turn-server.ts";

type Stage = "server" | TimedPart;

/** The innermost first: what lies around another has only the rest. */
const STAGES: readonly (readonly [Stage, string])[] = [
  ["server", "the model server itself"],
  ["command", "sandbox and command"],
  ["permission", "permission and profile"],
  ["journal", "journal: waits for a sync"],
  ["driver", "request parsed, body, HTTP, reply decoded"],
  ["calls", "gate, devices and context (system calls)"],
  ["agent", "the loop: prompt, request, results"],
];

/** Medians over the turns of a daemon's first conversation and of a later one, and the parts of the later one's sum. */
export function stageRows(
  first: readonly Exchange[],
  warm: readonly Exchange[],
  spans: readonly Span[],
): readonly Row[] {
  const [cold, own] = [mediansOf(first, spans), mediansOf(warm, spans)];
  const sumOf = (all: typeof own) => all.reduce((total, ms) => total + ms, 0);
  const rows = STAGES.map(([, words], at) => [words, cold[at] ?? 0, own[at] ?? 0] as const);
  return [...rows, ["all of them", sumOf(cold), sumOf(own)] as const].map(([words, early, late]) => [
    words,
    early.toFixed(2),
    late.toFixed(2),
    `${((100 * late) / sumOf(own)).toFixed(0)} %`,
  ]);
}

/** For each stage; the first turn of the conversation is left out. */
function mediansOf(exchanges: readonly Exchange[], spans: readonly Span[]): readonly number[] {
  const turns = exchanges.slice(1, -1).map((exchange, at) => {
    const to = (exchanges[at + 2] as Exchange).arrived;
    return shares(exchange, to, spans);
  });
  return STAGES.map(([stage]) => median(turns.map((of) => of[stage])));
}

function shares(exchange: Exchange, to: number, spans: readonly Span[]): Record<Stage, number> {
  const from = exchange.arrived;
  const within: (readonly [Stage, number, number])[] = [
    ["server", from, exchange.answered],
    ...spans.filter(([, begin, end]) => begin < to && end > from),
  ];
  const moments = within.flatMap(([, begin, end]) => [Math.max(begin, from), Math.min(end, to)]);
  const edges = [...new Set([from, to, ...moments])].sort((a, b) => a - b);
  const sums: Record<Stage, number> = {
    ...{ server: 0, command: 0, permission: 0, journal: 0, driver: 0, calls: 0, agent: 0 },
  };
  for (const [at, edge] of edges.slice(1).entries()) {
    const middle = (edge + (edges[at] as number)) / 2;
    const active = within
      .filter(([, begin, end]) => begin <= middle && middle <= end)
      .map(([stage]) => stage);
    const [stage] = STAGES.find(([name]) => active.includes(name)) ?? ["agent"];
    sums[stage] += edge - (edges[at] as number);
  }
  return sums;
}
