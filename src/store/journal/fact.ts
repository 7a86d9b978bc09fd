/**
 * What a record changes about its process, in short. The derived tables are built from facts alone, so that the writer
 * need not read bodies. Pure; a fact is made from the body before large strings become blobs.
 */
import type { JournalDraft, RecordKind } from "../../kernel/ports/journal.ts";
import { microUsd } from "../../lib/usd.ts";

/** Most characters of the intent and the other texts that a row shows. */
const SHOWN_CHARS = 200;
/** Most characters of `cwd` in a row; rows stay short whatever a body holds. */
const TEXT_CHARS = 4_096;

export interface SpawnedFact {
  readonly ppid: number;
  readonly kind: string;
  readonly name: string;
  readonly intent: string;
  readonly cwd: string;
  readonly isSession: boolean;
  readonly createdAt: number | null;
}

export type Fact =
  | { readonly is: "spawned"; readonly spawned: SpawnedFact }
  | { readonly is: "forked"; readonly from: string; readonly at: number }
  | { readonly is: "ended"; readonly code: number; readonly reason: string }
  | { readonly is: "reaped" }
  /** `isSession`: from here on the user talks to the process. */
  | { readonly is: "resumed"; readonly isSession: boolean }
  | { readonly is: "described"; readonly title?: string; readonly isKept?: boolean }
  | { readonly is: "state" }
  | { readonly is: "signal"; readonly isPaused: boolean; readonly ranMs: number | null }
  | { readonly is: "spent"; readonly tokens: number; readonly microUsd: number }
  | { readonly is: "limit"; readonly used: number }
  | { readonly is: "turn" }
  | { readonly is: "mail" | "read"; readonly message: number }
  | { readonly is: "joined" | "left"; readonly group: number };

type Body = Readonly<Record<string, unknown>>;

/** undefined: the record changes only the last-record fields of its process. */
export function factOf({ kind, body }: Pick<JournalDraft, "kind" | "body">): Fact | undefined {
  const known = typeof body === "object" && body !== null ? (body as Body) : {};
  return FACTS[kind]?.(known);
}

const FACTS: Partial<Record<RecordKind, (body: Body) => Fact | undefined>> = {
  "process.spawned": (body) => ({ is: "spawned", spawned: spawnedFact(body) }),
  "process.forked": ({ from, at }) =>
    typeof from === "string" && isCount(at) ? { is: "forked", from, at } : undefined,
  "process.exited": ({ code, reason }) => ({
    is: "ended",
    code: integer(code, 1),
    reason: shown(reason),
  }),
  "process.failed": ({ message }) => ({ is: "ended", code: 1, reason: shown(message) }),
  "process.reaped": () => ({ is: "reaped" }),
  "process.recovered": ({ resumed, isSession }) =>
    resumed === true ? { is: "resumed", isSession: isSession === true } : undefined,
  "process.described": ({ title, kept }) => ({
    is: "described",
    ...(typeof title === "string" ? { title: shown(title) } : {}),
    ...(typeof kept === "boolean" ? { isKept: kept } : {}),
  }),
  "process.state": () => ({ is: "state" }),
  signal: ({ paused, ranMs }) => ({
    is: "signal",
    isPaused: paused === true,
    ranMs: typeof ranMs === "number" ? number(ranMs, 0) : null,
  }),
  "call.result": spent,
  "call.unknown": spent,
  "acct.settle": ({ used }) => ({ is: "limit", used: number(used, 0) }),
  "ctx.record": ({ role, cid, replaces }) =>
    role === "user" && cid === undefined && replaces === undefined ? { is: "turn" } : undefined,
  "mail.put": ({ seq }) => (isCount(seq) ? { is: "mail", message: seq } : undefined),
  "mail.done": ({ seq }) => (isCount(seq) ? { is: "read", message: seq } : undefined),
  "group.join": ({ group }) => (isCount(group) ? { is: "joined", group } : undefined),
  "group.leave": ({ group }) => (isCount(group) ? { is: "left", group } : undefined),
};

function spawnedFact(body: Body): SpawnedFact {
  return {
    ppid: integer(body.ppid, 0),
    kind: typeof body.kind === "string" ? body.kind : "agent",
    name: nameOf(body),
    intent: shown(body.intent),
    cwd: typeof body.cwd === "string" ? body.cwd.slice(0, TEXT_CHARS).toWellFormed() : "",
    isSession: body.isSession === true,
    createdAt: typeof body.createdAt === "number" ? number(body.createdAt, 0) : null,
  };
}

/** The name of the agent or supervisor, or the last part of the program's path. */
function nameOf({ agent, supervisor, command }: Body): string {
  if (typeof agent === "string") return shown(agent);
  const { name } = (supervisor ?? {}) as { name?: unknown };
  if (typeof name === "string") return shown(name);
  const [program]: unknown[] = Array.isArray(command) ? command : [];
  return typeof program === "string" ? shown(program.slice(program.lastIndexOf("/") + 1)) : "";
}

function spent({ cost }: Body): Fact | undefined {
  const { tokens, usd } = (cost ?? {}) as { tokens?: unknown; usd?: unknown };
  const paid = microUsd(number(usd, 0));
  return number(tokens, 0) === 0 && paid === 0
    ? undefined
    : { is: "spent", tokens: number(tokens, 0), microUsd: number(paid, 0) };
}

/** The text's first SHOWN_CHARS; a character cut in half is replaced by U+FFFD. */
function shown(text: unknown): string {
  if (typeof text !== "string") return "";
  return text.slice(0, SHOWN_CHARS).toWellFormed();
}

function number(value: unknown, otherwise: number): number {
  // SQLite has no negative zero
  return typeof value === "number" && Number.isFinite(value) ? value + 0 : otherwise;
}

/** A safe integer, which SQLite returns as it was written. */
function integer(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value + 0 : otherwise;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
