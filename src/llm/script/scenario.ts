/** Parses scenario files (YAML or JSON) for the player. Errors are INVALID and name the line, never the content. */
import { LineCounter, parseDocument } from "yaml";
import * as z from "zod";
import { DriverError } from "../../abi/errors.ts";
import { LLM_ERROR_KINDS, type LlmErrorKind, STOP_REASONS } from "../../abi/llm.ts";

const kinds = Object.keys(LLM_ERROR_KINDS) as [LlmErrorKind, ...LlmErrorKind[]];

/** Text that must be contained, or a pattern between slashes: `/fail(ed)?/i`. */
const Pattern = z.string().refine((text) => isPattern(text), "not a valid pattern");

const Result = z.strictObject({
  tool: z.string().optional(),
  contains: Pattern.optional(),
  error: z.boolean().optional(),
});

const When = z.strictObject({
  agent: z.string().optional(),
  /** 1 is the first reply of the conversation. */
  turn: z.int().min(1).optional(),
  /** The last message of the user. */
  user: Pattern.optional(),
  /** Matches one of the results in the last message; a plain text means `contains`. */
  result: z.union([Pattern, Result]).optional(),
  model: Pattern.optional(),
  /** A template; the entry is skipped while it renders as empty. */
  given: z.string().optional(),
});

const Fault = z.strictObject({
  kind: z.enum([...kinds, "stall", "cut", "duplicate_text", "bad_json", "empty"]),
  at: z
    .string()
    .regex(/^(start|mid|block:\d+)$/, "start, mid or block:<n>")
    .default("start"),
  times: z.int().min(1).default(1),
  retryAfterMs: z.number().min(0).optional(),
  /** The duration of a stall; absent: until the attempt is ended. */
  ms: z.number().min(0).optional(),
});

const Turn = z.strictObject({
  when: When.optional(),
  times: z.int().min(1).default(1),
  forever: z.boolean().default(false),
  think: z.string().optional(),
  say: z.string().optional(),
  call: z
    .array(z.strictObject({ tool: z.string().min(1), args: z.record(z.string(), z.unknown()).default({}) }))
    .default([]),
  usage: z
    .strictObject({
      input_tokens: z.int().min(0).optional(),
      output_tokens: z.int().min(0).optional(),
      cache_creation_input_tokens: z.int().min(0).optional(),
      cache_read_input_tokens: z.int().min(0).optional(),
    })
    .optional(),
  stop: z.enum(STOP_REASONS).optional(),
  fault: Fault.optional(),
  pace: z
    .strictObject({ chunk: z.int().min(1).default(24), delayMs: z.number().min(0).default(0) })
    .default({ chunk: 24, delayMs: 0 }),
});

const Scenario = z.strictObject({
  scenario: z.string().min(1),
  card: z
    .strictObject({
      maxInputTokens: z.int().min(1).optional(),
      maxOutputTokens: z.int().min(1).optional(),
      price: z.strictObject({ input: z.number().min(0), output: z.number().min(0) }).optional(),
    })
    .default({}),
  turns: z.array(Turn).min(1),
});

export type Scenario = z.infer<typeof Scenario>;
export type Turn = z.infer<typeof Turn>;
export type Fault = z.infer<typeof Fault>;

/** `name`: the file's name in error messages. */
export function parseScenario(text: string, name: string): Scenario {
  const counter = new LineCounter();
  const doc = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const [error] = doc.errors;
  if (error !== undefined) throw broken(name, counter.linePos(error.pos[0]).line, "not valid YAML");
  const parsed = Scenario.safeParse(doc.toJS({ maxAliasCount: 100 }));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  throw broken(
    name,
    lineOf(doc, path, counter),
    `${path.join(".") || "scenario"}: ${issue?.message ?? "invalid"}`,
  );
}

/** The line of the nearest node that exists on the way to `path`. */
function lineOf(
  doc: ReturnType<typeof parseDocument>,
  path: readonly PropertyKey[],
  counter: LineCounter,
): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = doc.getIn(path.slice(0, length), true);
    const range = typeof node === "object" && node !== null && "range" in node ? node.range : undefined;
    if (Array.isArray(range) && typeof range[0] === "number") return counter.linePos(range[0]).line;
  }
  return 1;
}

function broken(name: string, line: number, message: string): DriverError {
  return new DriverError({
    code: "INVALID",
    op: "Write",
    device: "/dev/llm/script",
    message: `${name}, line ${line}: ${message}`,
  });
}

function isPattern(text: string): boolean {
  try {
    parsePattern(text);
    return true;
  } catch {
    return false;
  }
}

/** A function that tests a text against the pattern. */
export function parsePattern(text: string): (value: string) => boolean {
  const parts = /^\/(.+)\/([imsu]*)$/s.exec(text);
  if (parts === null) return (value) => value.includes(text);
  const pattern = new RegExp(parts[1] ?? "", parts[2]);
  return (value) => pattern.test(value);
}
