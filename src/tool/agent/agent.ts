/** agent: gives a task to a child agent and waits for its last message. */
import * as z from "zod";
import { DEFAULT_AGENT } from "../../abi/agent.ts";
import type { Ended } from "../../abi/child.ts";
import type { Pid } from "../../abi/ids.ts";
import { EXIT, SIGNALS } from "../../abi/process.ts";
import { findChild } from "../child-process.ts";
import { failure } from "../failure.ts";
import { HIDDEN } from "../schema.ts";
import { defineTool, type Outcome, type RunContext, type Scope } from "../tool.ts";
import text from "./agent.md";

/** A wait of the kernel lasts at most an hour. */
const WAIT_MS = 3_600_000;
/** Agents whose result is all there is to say: nobody goes on with them. */
const ONE_SHOT: ReadonlySet<string> = new Set(["explore", "plan", "guide"]);

const Args = z.object({
  description: z.string().min(1).max(200).describe("3-5 words"),
  prompt: z.string().min(1).max(262_144),
  subagent_type: z.string().min(1).max(64).optional(),
  model: z.string().min(1).max(200).optional(),
  /** The call of the model; and whether an earlier daemon may have begun it. */
  tool_use_id: z.string().max(200).optional().meta(HIDDEN),
  again: z.boolean().optional().meta(HIDDEN),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({
  status: z.literal("completed"),
  agent_id: z.string(),
  pid: z.int(),
  total_tokens: z.int(),
  total_duration_ms: z.int(),
});

export const agent = defineTool({
  name: "agent",
  hint: "give a task to another agent",
  text,
  args: Args,
  meta: Meta,
  listed: "core",
  overflow: "ends",
  readOnly: true,
  parallel: true,
  destructive: () => false,
  effects: (args) => [{ kind: "spawn", program: typeOf(args), background: false }],
  view: (args) => ({
    operation: `start agent ${typeOf(args)}: ${args.description}`,
    params: { prompt: args.prompt, ...(args.model === undefined ? {} : { model: args.model }) },
  }),
  about: (args) => `${typeOf(args)}: ${args.description}`,
  activity: (args) => `${args.description} (${typeOf(args)})`,
  run,
});

function typeOf({ subagent_type: type = DEFAULT_AGENT }: Args): string {
  return type.toLowerCase();
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const before = args.again === true ? await begun(args, context) : undefined;
  const pid = before ?? (await started(args, context));
  return outcomeOf(args, pid, await untilEnd(pid, context));
}

async function started(args: Args, { sys, signal, kept }: RunContext): Promise<Pid> {
  const { prompt, description: title, model, tool_use_id: call = "" } = args;
  signal.throwIfAborted();
  const pid = await sys.spawn(prompt, typeOf(args), {
    onParentExit: "terminate",
    child: { call, title },
    ...(model === undefined ? {} : { model }),
  });
  if (call !== "") kept?.set(KEPT, [...callsIn(kept).slice(1 - MAX_KEPT), { call, pid }]);
  return pid;
}

/**
 * The child that this call started before its daemon stopped. It is among the processes, or it has ended; then the values
 * that were kept name it, because they were recorded between its start and its end.
 */
async function begun({ tool_use_id: call }: Args, { sys, kept }: RunContext): Promise<Pid | undefined> {
  if (call === undefined) return undefined;
  const found = await findChild(sys, ({ child }) => child?.call === call);
  return found?.pid ?? callsIn(kept).findLast((each) => each.call === call)?.pid;
}

const KEPT = "agent/calls";
/** More calls than a reply has that runs at once. */
const MAX_KEPT = 128;

interface Begun {
  readonly call: string;
  readonly pid: Pid;
}

function callsIn(kept: Scope["kept"]): readonly Begun[] {
  return (kept?.get(KEPT) ?? []) as readonly Begun[];
}

/** An interrupt of the call ends the child and all below it. */
async function untilEnd(pid: Pid, { sys, signal }: RunContext): Promise<Ended> {
  try {
    for (;;) {
      const ended = await sys.ended(pid);
      if (ended !== null) {
        await sys.reap(pid).catch(() => undefined);
        return ended;
      }
      await sys.sleep(WAIT_MS, signal, { pid });
    }
  } catch (error) {
    // where the process itself has ended, its child ends with it
    if (signal.aborted) await sys.kill(pid, SIGNALS.SIGTERM).catch(() => undefined);
    throw error;
  }
}

function outcomeOf(args: Args, pid: Pid, ended: Ended): Outcome {
  const { agentId, exit, result, tokensUsed, elapsedMs } = ended;
  const use = `${tokensUsed} tokens, ${(elapsedMs / 1000).toFixed(1)} s`;
  const own = ONE_SHOT.has(typeOf(args)) ? "" : `\n\n[${agentId}, pid ${pid}: ${use}]`;
  const meta = {
    status: "completed",
    agent_id: agentId,
    pid: Number(pid),
    total_tokens: tokensUsed,
    total_duration_ms: Math.round(elapsedMs),
  };
  if (exit.code === EXIT.completed.code)
    return { text: `${result === "" ? "(it ended without a word)" : result}${own}`, meta };
  const why = `agent ${typeOf(args)} (pid ${pid}) ${exit.kind === "killed" ? "was ended" : "failed"}: ${exit.reason}`;
  if (result === "") throw failure(codeOf(ended), why);
  return {
    text: result,
    error: { code: codeOf(ended), message: `${why}. Above is what it said last; it is not finished.` },
  };
}

function codeOf({ exit }: Ended): "CANCELLED" | "BUDGET" | "DRIVER" {
  if (exit.kind === "killed") return "CANCELLED";
  return exit.reason === EXIT.budget.reason || exit.reason === EXIT.maxSteps.reason ? "BUDGET" : "DRIVER";
}
