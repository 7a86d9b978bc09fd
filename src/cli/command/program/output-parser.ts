/**
 * Parsers of the output of programs (`crux wrap`): rules in YAML, each with a regular expression whose named groups become
 * the data of an event. Pure.
 */
import { LineCounter, type Node, parseDocument } from "yaml";
import { messageOf } from "../../../abi/errors.ts";
import { findGroups } from "../../../lib/text/find-matching.ts";
import { invalid } from "../../screen/errors.ts";

export type OutputStream = "stdout" | "stderr";

interface ParserRule {
  /** Where it stands in its file. */
  readonly line: number;
  readonly event: string;
  readonly streams: readonly OutputStream[];
  readonly regex: RegExp;
  readonly fields: Readonly<Record<string, FieldType>>;
}

/** `duration`: HH:MM:SS.ss, as ms. */
type FieldType = "text" | "number" | "duration";

export interface ParsedEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, string | number>>;
}

const MAX_RULES = 50;
const MAX_PATTERN_CHARS = 1_000;
const MATCH_MS = 250;
const EVENT = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,5}$/;
const KEYS: ReadonlySet<string> = new Set(["event", "match", "stream", "fields"]);
const STREAMS: Readonly<Record<string, readonly OutputStream[]>> = {
  both: ["stdout", "stderr"],
  stdout: ["stdout"],
  stderr: ["stderr"],
};

export class OutputParser {
  readonly #rules: readonly ParserRule[];
  readonly #slow = new Set<ParserRule>();

  /** What the program reads as a wish to end; undefined: it is sent SIGINT. */
  readonly stop: string | undefined;

  constructor(rules: readonly ParserRule[], stop: string | undefined) {
    this.#rules = rules;
    this.stop = stop;
  }

  reads(stream: OutputStream): boolean {
    return this.#rules.some(({ streams }) => streams.includes(stream));
  }

  /** The lines of rules that were left out, because they took too long. */
  get slow(): readonly number[] {
    return [...this.#slow].map(({ line }) => line);
  }

  /** What the first rule that matches says; undefined: none does. On a terminal all rules read the one stream there is. */
  parse(stream: OutputStream | "terminal", line: string): ParsedEvent | undefined {
    for (const rule of this.#rules) {
      if (this.#slow.has(rule) || (stream !== "terminal" && !rule.streams.includes(stream))) continue;
      // once more: what was slow may have been the machine
      const groups = findGroups(rule.regex, line, MATCH_MS) ?? findGroups(rule.regex, line, MATCH_MS);
      if (groups === null) this.#slow.add(rule);
      else if (groups !== undefined) return { event: rule.event, data: dataOf(groups, rule) };
    }
    return undefined;
  }
}

function dataOf(groups: Readonly<Record<string, string | undefined>>, { fields }: ParserRule) {
  const data: Record<string, string | number> = {};
  for (const [name, text] of Object.entries(groups)) {
    if (text === undefined) continue;
    const value = converted(text, fields[name] ?? "text");
    if (value !== undefined) data[name] = value;
  }
  return data;
}

/** undefined: not of that type. */
function converted(text: string, type: FieldType): string | number | undefined {
  if (type === "text") return text;
  const parts = text.split(":").map(Number);
  const number =
    type === "number" ? Number(text) : Math.round(parts.reduce((sum, part) => sum * 60 + part, 0) * 1000);
  return Number.isFinite(number) ? number : undefined;
}

/** INVALID, with `file:line`: not YAML, an unknown key, no event, or not a regular expression. */
export function readParser(text: string, file: string): OutputParser {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const lineOf = (path: readonly (string | number)[]): number => {
    for (let at = path; at.length > 0; at = at.slice(0, -1)) {
      const node = document.getIn(at, true) as Node | undefined;
      if (node?.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  const wrong = (path: readonly (string | number)[], message: string): Error =>
    invalid(`${file}:${lineOf(path)}: ${message}`);
  const [error] = document.errors;
  if (error !== undefined)
    throw invalid(`${file}:${error.linePos?.[0].line ?? 1}: ${error.message.split("\n")[0]}`);
  const { rules, stop, ...others } = record(document.toJS()) ?? {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong([unknown], `unknown key "${unknown}"; only rules and stop`);
  if (stop !== undefined && (typeof stop !== "string" || stop === ""))
    throw wrong(["stop"], "stop: the text that ends the program is needed");
  if (!Array.isArray(rules) || rules.length === 0) throw wrong(["rules"], "rules: a list is needed");
  if (rules.length > MAX_RULES) throw wrong(["rules"], `at most ${MAX_RULES} rules`);
  return new OutputParser(
    rules.map((rule, n) =>
      readRule(rule, {
        line: lineOf(["rules", n]),
        wrong: (key, message) => wrong(["rules", n, key], message),
      }),
    ),
    stop,
  );
}

interface Place {
  readonly line: number;
  wrong(key: string, message: string): Error;
}

function readRule(given: unknown, { line, wrong }: Place): ParserRule {
  const rule = record(given);
  if (rule === undefined) throw wrong("", "a rule is a map with event and match");
  const unknown = Object.keys(rule).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw wrong(unknown, `unknown key "${unknown}"; known: ${[...KEYS].join(", ")}`);
  const { event, match, stream = "both", fields = {} } = rule;
  if (typeof event !== "string" || !EVENT.test(event))
    throw wrong("event", "event: a name such as build.progress is needed");
  if (typeof match !== "string" || match === "")
    throw wrong("match", "match: a regular expression is needed");
  if (match.length > MAX_PATTERN_CHARS)
    throw wrong("match", `match: at most ${MAX_PATTERN_CHARS} characters`);
  const streams = typeof stream === "string" && Object.hasOwn(STREAMS, stream) ? STREAMS[stream] : undefined;
  if (streams === undefined) throw wrong("stream", "stream: stdout, stderr or both");
  const types = Object.entries(record(fields) ?? { fields });
  if (types.some(([, type]) => type !== "text" && type !== "number" && type !== "duration"))
    throw wrong("fields", "fields: each is text, number or duration");
  let regex: RegExp;
  try {
    regex = new RegExp(match);
  } catch (error) {
    throw wrong("match", `match: ${messageOf(error)}`);
  }
  const unnamed = types.find(([name]) => !match.includes(`(?<${name}>`));
  if (unnamed !== undefined) throw wrong("fields", `fields: match has no group (?<${unnamed[0]}>…)`);
  return { line, event, streams, regex, fields: Object.fromEntries(types) as Record<string, FieldType> };
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** Built-in parsers, by the name of their program. `docs/kernel-ipc.md` shows them as examples. */
export const PARSERS: Readonly<Record<string, string>> = {
  ffmpeg: String.raw`stop: q
rules:
  - event: ffmpeg.input
    stream: stderr
    match: '^ *Duration: (?<duration>\d+:\d\d:\d\d\.\d+)'
    fields: { duration: duration }
  - event: ffmpeg.progress
    stream: stderr
    match: '^(?:frame= *(?<frame>\d+) fps= *(?<fps>[\d.]+) .*?)?L?size= *(?<kib>\d+)(?:kB|KiB) time=(?<time>[\d:.]+) .*speed= *(?<speed>[\d.e+]+)x'
    fields: { frame: number, fps: number, kib: number, time: duration, speed: number }
`,
};
