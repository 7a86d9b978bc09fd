/** The flags of `crux -p`: those of a run, and those of print mode. */

import { durationFlag, usdFlag } from "../amounts.ts";
import { type Args, type FlagTable, PRINT_FLAGS, parseFlags, RUN_FLAGS, textFlag } from "../args.ts";
import { invalid } from "../screen/errors.ts";
import { refuseForeign, spreadLists } from "./foreign-flags.ts";

const OUTPUTS = ["text", "json", "stream-json"] as const;
const INPUTS = ["text", "stream-json"] as const;
export type OutputFormat = (typeof OUTPUTS)[number];

/** Here the value of -r belongs to the flag, wherever it stands. */
const TABLE: FlagTable = { ...RUN_FLAGS, ...PRINT_FLAGS, resume: { type: "string", short: "r" } };

export const printTable = TABLE;

export function parsePrint(argv: readonly string[]): Args {
  refuseForeign(argv);
  return parseFlags(spreadLists(argv), TABLE);
}

export interface PrintOptions {
  readonly isStreamInput: boolean;
  readonly withDeltas: boolean;
  /** What would be asked is asked on stdout and answered on stdin. */
  readonly asksOnStdio: boolean;
  /** JSON Schema of the answer, or a file of it. */
  readonly schema: string | undefined;
  /** Each message is printed once the session has read it. */
  readonly replays: boolean;
  /** The uuid of the session that begins, or of the one that is continued; undefined: any. */
  readonly uuid: string | undefined;
  /** The title of the session that begins; undefined: its first words. */
  readonly title: string | undefined;
  /** So long after the first message its run is stopped; undefined: never. */
  readonly timeoutMs: number | undefined;
  /** The session ends with the command. */
  readonly endsSession: boolean;
  /** How the session is found; undefined: a new one. */
  readonly from: { readonly ref: string | "latest"; readonly forks: boolean } | undefined;
}

/** Read on its own, so that even a wrong command line is answered in the format that it asks for. */
export function outputFormat(args: Args): OutputFormat {
  return oneOf(args, "output-format", OUTPUTS) ?? "text";
}

/** Also of a command line that cannot be read: the last `--output-format` before a `--`. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  const named = own.flatMap((word, at) => {
    if (word === "--output-format") return [own[at + 1]];
    return word.startsWith("--output-format=") ? [word.slice("--output-format=".length)] : [];
  });
  return ["json", "stream-json"].includes(named.at(-1) ?? "");
}

/** INVALID: a wrong value, or flags that do not go together; nothing was started. */
export function printOptions(args: Args): PrintOptions {
  const { flags } = args;
  const output = outputFormat(args);
  const isStreamInput = oneOf(args, "input-format", INPUTS) === "stream-json";
  const withDeltas = flags.has("include-partial-messages");
  if (flags.has("json"))
    throw invalid("--json and -p are two formats: use one", "crux -p --output-format json");
  if (flags.has("detach")) throw invalid("--detach prints nothing to wait for: leave -p out");
  if (isStreamInput && output !== "stream-json")
    throw invalid("--input-format stream-json needs --output-format stream-json");
  if (withDeltas && output !== "stream-json")
    throw invalid("--include-partial-messages needs --output-format stream-json");
  const asksOnStdio = promptTool(args, isStreamInput);
  const from = sessionFrom(args);
  const replays = flags.has("replay-user-messages");
  if (replays && !isStreamInput) throw invalid("--replay-user-messages needs --input-format stream-json");
  const schema = textFlag(args, "json-schema");
  const uuid = uuidOf(args);
  const [title, endsSession] = [textFlag(args, "name"), flags.has("no-session-persistence")];
  const timeoutMs = durationFlag(args, "timeout");
  return {
    isStreamInput,
    withDeltas,
    asksOnStdio,
    schema,
    from,
    replays,
    uuid,
    title,
    timeoutMs,
    endsSession,
  };
}

function uuidOf(args: Args): string | undefined {
  const uuid = textFlag(args, "session-id")?.toLowerCase();
  if (uuid === undefined || UUID.test(uuid)) return uuid;
  throw invalid(`--session-id needs a uuid, not ${JSON.stringify(uuid)}`);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function promptTool(args: Args, isStreamInput: boolean): boolean {
  const tool = textFlag(args, "permission-prompt-tool");
  if (tool === undefined) return false;
  if (tool !== "stdio")
    throw invalid(
      `--permission-prompt-tool takes stdio alone, not ${JSON.stringify(tool)}`,
      "rules decide without a question: --allow 'bash(npm test)'; see docs/print-mode.md",
    );
  if (!isStreamInput) throw invalid("--permission-prompt-tool needs --input-format stream-json");
  return true;
}

function sessionFrom(args: Args): PrintOptions["from"] {
  const { flags } = args;
  const [latest, ref, forks] = [flags.has("continue"), textFlag(args, "resume"), flags.has("fork-session")];
  if (latest && ref !== undefined) throw invalid("either -c or -r, not both");
  if (!latest && ref === undefined) {
    if (forks) throw invalid("--fork-session needs a session to fork: -c, or -r <session>");
    return undefined;
  }
  // what is not to be kept is said to a copy, and the session stays as it is
  return { ref: ref ?? "latest", forks: forks || flags.has("no-session-persistence") };
}

/** The limits of print mode, as the request of a run has them. */
export function printLimits(args: Args): { max_steps?: number; usd?: number } {
  const usd = usdFlag(args, "max-budget-usd");
  const turns = textFlag(args, "max-turns");
  if (turns !== undefined && args.flags.has("max-steps"))
    throw invalid("either --max-turns or --max-steps, not both");
  if (turns !== undefined && !/^[1-9]\d{0,8}$/.test(turns))
    throw invalid(`--max-turns needs a whole number from 1, not ${JSON.stringify(turns)}`);
  return {
    ...(turns === undefined ? {} : { max_steps: Number(turns) }),
    ...(usd === undefined ? {} : { usd }),
  };
}

function oneOf<T extends string>(args: Args, name: string, known: readonly T[]): T | undefined {
  const text = textFlag(args, name);
  if (text === undefined) return undefined;
  const found = known.find((each) => each === text);
  if (found === undefined) throw invalid(`--${name} is ${known.join(", ")}, not ${JSON.stringify(text)}`);
  return found;
}
