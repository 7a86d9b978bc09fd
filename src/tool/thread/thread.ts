/** thread: part of the work runs beside the caller, in the same process and with the same conversation. */
import * as z from "zod";
import { codeOf, messageOf } from "../../abi/errors.ts";
import { asTid } from "../../abi/ids.ts";
import { linkSignals } from "../../lib/abort.ts";
import { badArguments } from "../failure.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./thread.md";

const DEFAULT_WAIT_MS = 600_000;

const Args = z.object({
  op: z.enum(["spawn", "join", "cancel", "list"]),
  intent: z.string().min(1).max(32_000).optional().describe("spawn: what it is to do"),
  tid: z.int().min(1).optional().describe("join, cancel: which"),
  max_turns: z.int().min(1).optional().describe("spawn: of its steps"),
  timeout: z.int().min(1).max(3_600_000).default(DEFAULT_WAIT_MS).describe("join: of the wait, ms"),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({ threads: z.array(z.strictObject({ tid: z.int(), state: z.string() })) });

export const thread = defineTool({
  name: "thread",
  hint: "run subtask in parallel within this process",
  text,
  args: Args,
  meta: Meta,
  // a thread's own calls are judged one by one, and starting it changes nothing outside this process
  readOnly: true,
  destructive: () => false,
  effects: () => [{ kind: "state", path: "/proc/self/threads" }],
  view: ({ op, tid, intent }) => ({
    operation: op === "spawn" ? "start a thread" : `${op} thread${tid === undefined ? "s" : ` ${tid}`}`,
    params: intent === undefined ? {} : { intent },
  }),
  about: ({ op, tid, intent }) => `${op} ${intent ?? tid ?? ""}`.trimEnd(),
  activity: ({ op, tid }) => (op === "join" ? `Waiting for thread ${tid}` : `Threads: ${op}`),
  run,
});

function run(args: Args, context: RunContext): Promise<Outcome> {
  switch (args.op) {
    case "spawn":
      return spawn(args, context);
    case "join":
      return join(args, context);
    case "cancel":
      return cancel(args, context);
    case "list":
      return list(context);
  }
}

async function spawn({ intent, max_turns: maxTurns }: Args, { sys }: RunContext): Promise<Outcome> {
  if (intent === undefined) throw badArguments("thread: spawn needs an intent");
  const tid = await sys.spawnThread(intent, maxTurns === undefined ? {} : { maxTurns });
  return {
    text: `Thread ${tid} started. Join it before the end.`,
    meta: { threads: [{ tid, state: "running" }] },
  };
}

/** Waits no longer than its timeout, so that two threads that join each other do not wait forever. */
async function join(args: Args, { sys, signal, pid }: RunContext): Promise<Outcome> {
  const tid = asTid(tidOf(args));
  using linked = linkSignals(signal);
  const late = sys.sleep(args.timeout, linked.signal, { pid }).then(() => undefined);
  const ended = await Promise.race([sys.joinThread(tid, linked.signal), late]);
  linked.abort();
  if (ended === undefined)
    return { text: `Thread ${tid} is still running.`, meta: { threads: [{ tid, state: "running" }] } };
  const meta = { threads: [{ tid, state: "dead" }] };
  const { result, err } = ended;
  if (err === undefined) return { text: result === "" ? `Thread ${tid} ended without words.` : result, meta };
  const message = `thread ${tid} failed: ${messageOf(err)}`;
  return { text: `${message}\n${result}`.trimEnd(), meta, error: { code: codeOf(err), message } };
}

async function cancel(args: Args, { sys }: RunContext): Promise<Outcome> {
  const tid = tidOf(args);
  await sys.cancelThread(asTid(tid));
  return { text: `Thread ${tid} was told to end.`, meta: { threads: [] } };
}

async function list({ sys }: RunContext): Promise<Outcome> {
  const threads = await sys.listThreads();
  const lines = threads.map(
    ({ tid, state, intent }) => `${tid} ${STATE_WORDS[state]}: ${intent.slice(0, 200)}`,
  );
  return {
    text: lines.length === 0 ? "No threads." : lines.join("\n"),
    meta: { threads: threads.map(({ tid, state }) => ({ tid, state })) },
  };
}

const STATE_WORDS = {
  created: "starts",
  running: "runs",
  zombie: "has ended, join it",
  dead: "has ended",
} as const;

function tidOf({ op, tid }: Args): number {
  if (tid === undefined) throw badArguments(`thread: ${op} needs a tid`);
  return tid;
}
