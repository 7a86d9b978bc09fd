/** context: notes outside the conversation, which cost nothing until they are read. */
import * as z from "zod";
import { asCtxId, type CtxId } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { badArguments } from "../failure.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import { BY_THE_LOOP, WishMeta } from "../view-wish.ts";
import text from "./context.md";

const MAX_NOTES = 64;

const Args = z.object({
  op: z.enum(["alloc", "write", "read", "free", "list"]),
  size: z.int().min(1).max(MAX_NOTES).default(MAX_NOTES).describe("alloc: notes it holds"),
  cid: z.int().min(1).optional().describe("write, read, free: which"),
  note: z.string().min(1).max(16_000).optional().describe("write: the text"),
  at: z.int().min(0).default(0).describe("write: note to replace, 0: add; read: first note, 0: all"),
  count: z.int().min(1).max(MAX_NOTES).default(1).describe("read: notes from `at` on"),
});
type Args = z.output<typeof Args>;

const Meta = z.union([z.strictObject({ cid: z.int(), notes: z.int().optional() }), WishMeta]);

export const context = defineTool({
  name: "context",
  hint: "scratch notes; size of own conversation",
  text,
  args: Args,
  meta: Meta,
  // it changes nothing outside this process
  readOnly: true,
  destructive: () => false,
  effects: () => [{ kind: "state", path: "/proc/self/contexts" }],
  view: ({ op, cid, note }) => ({
    operation: `${op} context${cid === undefined ? "" : ` ${cid}`}`,
    params: note === undefined ? {} : { note },
  }),
  about: ({ op, cid }) => `${op} ${cid ?? ""}`.trimEnd(),
  activity: ({ op }) => `Notes: ${op}`,
  run,
});

async function run(args: Args, { sys }: RunContext): Promise<Outcome> {
  if (args.op === "list") return { text: BY_THE_LOOP, meta: { view: { op: "list" } } };
  if (args.op === "alloc") {
    const made = await sys.ctxAlloc(args.size);
    return { text: `Context ${made} holds ${args.size} notes.`, meta: { cid: made } };
  }
  const cid = cidOf(args);
  switch (args.op) {
    case "write":
      await sys.ctxWrite(cid, args.at, encoded(args));
      return { text: args.at === 0 ? "Added." : `Note ${args.at} was replaced.`, meta: { cid } };
    case "read":
      return read(cid, args, sys);
    case "free":
      await sys.ctxFree(cid);
      return { text: `Context ${cid} is gone.`, meta: { cid } };
  }
}

function cidOf({ op, cid }: Args): CtxId {
  if (cid === undefined) throw badArguments(`context: ${op} needs a cid`);
  return asCtxId(cid);
}

function encoded({ note }: Args): Uint8Array {
  if (note === undefined) throw badArguments("context: write needs a note");
  return new TextEncoder().encode(JSON.stringify({ role: "user", content: note }));
}

async function read(cid: CtxId, { at, count }: Args, sys: RunContext["sys"]): Promise<Outcome> {
  const bytes = await (at === 0 ? sys.ctxRead(cid, 0, 0) : sys.ctxRead(cid, at - 1, count));
  const { messages } = JSON.parse(new TextDecoder().decode(bytes)) as { messages: ContextMessage[] };
  const first = at === 0 ? 1 : at;
  const lines = messages.map(({ content }, i) => `${first + i}. ${content}`);
  return {
    text: lines.length === 0 ? "No notes." : lines.join("\n"),
    meta: { cid, notes: messages.length },
  };
}
