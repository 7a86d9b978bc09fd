/** agent: gives a task to a child agent, and waits for its last message unless it is one of the background. */
import * as z from "zod";
import { DEFAULT_AGENT } from "../../abi/agent.ts";
import { type Ended, TEAM, type Team } from "../../abi/child.ts";
import { FORK } from "../../abi/fork.ts";
import type { Pid } from "../../abi/ids.ts";
import { EXIT, SIGNALS } from "../../abi/process.ts";
import { findStarted, infoOf, noteChild, outputFile } from "../child-process.ts";
import { failure } from "../failure.ts";
import { hostPath, readEffect } from "../path.ts";
import { HIDDEN } from "../schema.ts";
import { requireDirectory } from "../search-root.ts";
import { defineTool, type Outcome, type RunContext, type Scope } from "../tool.ts";
import text from "./agent.md";

/** A wait of the kernel lasts at most an hour. */
const WAIT_MS = 3_600_000;
/** Unless the settings say otherwise. */
const HAND_OVER_MS = 120_000;
/** Agents whose result is all there is to say: nobody goes on with them. */
const ONE_SHOT: ReadonlySet<string> = new Set(["explore", "plan", "guide"]);

/** None that could be taken for another address; it is not part of the schema, which is sent with every request. */
const NAME = /^(?!main$|(agent|job)-)[A-Za-z][\w.-]{0,63}$/;

const Args = z.object({
  description: z.string().min(1).max(200),
  prompt: z.string().min(1).max(262_144),
  subagent_type: z.string().min(1).max(64).optional(),
  model: z.string().min(1).max(200).optional(),
  run_in_background: z.boolean().optional(),
  isolation: z.literal("worktree").optional(),
  name: z.string().optional(),
  /** Told by team_create. */
  team_name: z.string().max(64).optional().meta(HIDDEN),
  mode: z.string().max(40).optional().meta(HIDDEN),
  /** Only programs say where a child works: a folder below those of its parent. */
  cwd: z.string().min(1).max(4096).optional().meta(HIDDEN),
  /** The call of the model; and whether an earlier daemon may have begun it. */
  tool_use_id: z.string().max(200).optional().meta(HIDDEN),
  again: z.boolean().optional().meta(HIDDEN),
});
type Args = z.output<typeof Args>;

const Meta = z.discriminatedUnion("status", [
  z.strictObject({
    status: z.literal("completed"),
    agent_id: z.string(),
    pid: z.int(),
    total_tokens: z.int(),
    total_tool_use_count: z.int(),
    total_duration_ms: z.int(),
    worktree_path: z.string().optional(),
    worktree_branch: z.string().optional(),
  }),
  z.strictObject({
    status: z.literal("async_launched"),
    agent_id: z.string(),
    pid: z.int(),
    description: z.string(),
    prompt: z.string(),
    output_file: z.string(),
    can_read_output_file: z.boolean(),
  }),
  z.strictObject({
    status: z.literal("teammate_spawned"),
    agent_id: z.string(),
    pid: z.int(),
    name: z.string(),
    team_name: z.string(),
  }),
]);

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
  effects: (args, scope) => [
    { kind: "spawn", program: startable(args, scope), background: isBackground(args, scope) },
    ...(args.cwd === undefined ? [] : [readEffect(hostPath(args.cwd, scope.cwd))]),
  ],
  view: (args, scope) => ({
    operation: `start agent ${typeOf(args, scope)}${args.isolation === undefined ? "" : " in a worktree"}: ${args.description}`,
    params: { prompt: args.prompt, ...(args.model === undefined ? {} : { model: args.model }) },
  }),
  // as its line reads while it runs
  about: (args) =>
    args.subagent_type === undefined ? args.description : `${typeOf(args)}: ${args.description}`,
  activity: (args) => `${args.description} (${typeOf(args)})`,
  run,
});

/** With forks, whoever names no agent means itself. */
function typeOf({ subagent_type: type }: Args, scope?: Scope): string {
  return (type ?? (scope !== undefined && hasForks(scope) ? FORK : DEFAULT_AGENT)).toLowerCase();
}

function hasForks({ background, forksUnnamed }: Scope): boolean {
  return background?.forks === true && forksUnnamed === true;
}

/** UNAVAILABLE: forks are off; who may have one is up to the kernel. INVALID: a fork that is to be something else than its caller. */
function startable(args: Args, scope: Scope): string {
  const type = typeOf(args, scope);
  if (type !== FORK) return type;
  if (scope.background?.forks !== true)
    throw failure("UNAVAILABLE", "forks are switched off", "The user can set agents.fork to true.");
  if (args.cwd !== undefined) throw failure("INVALID", "a fork works where its caller does: leave cwd out");
  if (teamFor(args, scope) !== undefined)
    throw failure("INVALID", "a member of a team is not a fork: leave name out, or name another agent");
  return type;
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const team = teamFor(args, context);
  const before = args.again === true ? await begun(args, context) : undefined;
  const pid = before ?? (await started(args, context, team));
  if (team !== undefined) return joined(args, { pid, team }, context);
  const isAlone = isBackground(args, context) || (await infoOf(context.sys, pid))?.child?.isBackground;
  if (isAlone === true) return launched(args, pid, context);
  const ended = await untilEnd(pid, context);
  return ended === null
    ? launched(args, pid, context)
    : outcomeOf({ ...args, subagent_type: typeOf(args, context) }, pid, ended);
}

/** Only a member of a team has a use for it. */
function modeNote({ mode }: Args): string {
  return mode === undefined ? "" : "\n\n[mode had no effect: it is for members of a team]";
}

/** The team that the child joins: a name makes it a member, where the caller leads one. NOT_FOUND: it leads no such team. */
function teamFor({ name, team_name: wanted }: Args, { kept }: Scope): string | undefined {
  const led = kept?.get(TEAM) as Team | undefined;
  if (wanted !== undefined && wanted !== led?.name)
    throw failure("NOT_FOUND", `this process leads no team ${wanted}`, "team_create makes one");
  if (wanted !== undefined && name === undefined) throw failure("INVALID", "a member of a team has a name");
  return name === undefined ? undefined : led?.name;
}

function isBackground({ run_in_background: isWanted }: Args, scope: Scope): boolean {
  const { env, background } = scope;
  return (
    (isWanted === true || hasForks(scope)) &&
    background?.isOff !== true &&
    env.CRUX_DISABLE_BACKGROUND_TASKS !== "1"
  );
}

async function started(args: Args, context: RunContext, team: string | undefined): Promise<Pid> {
  const { sys, signal, kept } = context;
  const { prompt, description: title, model, isolation, name, mode, tool_use_id: call = "" } = args;
  if (name !== undefined && !NAME.test(name))
    throw failure("INVALID", `not a name for an agent: ${name.slice(0, 80)}`);
  if (args.cwd !== undefined && isolation !== undefined)
    throw failure("INVALID", "an agent in a worktree works at its top: give cwd or isolation");
  const cwd = args.cwd === undefined ? undefined : await requireDirectory(context, args.cwd);
  signal.throwIfAborted();
  const isFork = typeOf(args, context) === FORK;
  const pid = await sys.spawn(prompt, isFork ? null : typeOf(args), {
    onParentExit: "terminate",
    ...(isFork ? { fork: { label: FORK } } : {}),
    child: {
      ...{ call, title },
      ...(name === undefined ? {} : { name }),
      ...(isBackground(args, context) ? { isBackground: true } : {}),
      ...(team === undefined
        ? {}
        : { isBackground: true, team, ...(mode === "plan" ? { plansFirst: true } : {}) }),
    },
    ...(team === undefined ? {} : { group: team, ...(mode === "plan" ? { plan: true } : {}) }),
    ...(model === undefined || isFork ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(isolation === undefined ? {} : { worktree: "" }),
  });
  noteChild(kept, { call, pid, task: taskOf(args), ...(name === undefined ? {} : { name }) });
  return pid;
}

/** The child that this call started before its daemon stopped. */
async function begun(args: Args, context: RunContext): Promise<Pid | undefined> {
  const { tool_use_id: call } = args;
  return call === undefined ? undefined : findStarted(context, { call, task: taskOf(args) });
}

/** Enough of a task to tell it from others. */
function taskOf({ description, prompt }: Args): string {
  return `${description}\n${prompt.slice(0, 400)}`;
}

/**
 * null: it is in the background now, because the user wants so or because it takes long. An interrupt of the call ends the
 * child and all below it.
 */
async function untilEnd(pid: Pid, context: RunContext): Promise<Ended | null> {
  const { sys, signal } = context;
  let leftMs = handOverMs(context);
  try {
    for (;;) {
      const ended = await sys.ended(pid, { isTold: true });
      if (ended !== null) {
        await sys.reap(pid).catch(() => undefined);
        return ended.worktree === undefined ? ended : await sys.ended(pid, { isSettled: true });
      }
      const waitMs = Math.min(leftMs, WAIT_MS);
      const woken = await sys.sleep(waitMs, signal, { pid });
      if (woken === "detached") return null;
      if (woken === "timer") leftMs -= waitMs;
      if (leftMs <= 0 && (await sys.detach(pid))) return null;
    }
  } catch (error) {
    // where the process itself has ended, its child ends with it
    if (signal.aborted) await sys.kill(pid, SIGNALS.SIGTERM).catch(() => undefined);
    throw error;
  }
}

/** How long a call waits for its child before that goes on in the background; Infinity: as long as it takes. */
function handOverMs({ env, background: { isOff = false, afterMs = HAND_OVER_MS } = {} }: Scope): number {
  if (isOff || env.CRUX_DISABLE_BACKGROUND_TASKS === "1" || afterMs === 0) return Infinity;
  return afterMs;
}

async function joined(
  { name = "" }: Args,
  { pid, team }: { readonly pid: Pid; readonly team: string },
  { sys }: RunContext,
): Promise<Outcome> {
  const agentId = (await infoOf(sys, pid))?.child?.agentId ?? "";
  return {
    text: `${name} (${agentId}, pid ${pid}) is a member of team ${team} and works. It tells you when it has nothing to do; send writes to it.`,
    meta: { status: "teammate_spawned", agent_id: agentId, pid: Number(pid), name, team_name: team },
  };
}

async function launched(args: Args, pid: Pid, { sys, signal }: RunContext): Promise<Outcome> {
  const agentId = (await infoOf(sys, pid))?.child?.agentId ?? (await sys.ended(pid))?.agentId ?? "";
  const { description, prompt } = args;
  const { told, ...output } = await outputFile(sys, agentId, signal);
  return {
    text:
      `${agentId} (pid ${pid}) works on it in the background. You are told when it ends; until then go on with other work and ` +
      `do not guess what it finds.${told} job_output with that name waits for it, stop ends it.${modeNote(args)}`,
    facts: { job: `pid ${pid}` },
    meta: {
      status: "async_launched",
      ...{ agent_id: agentId, pid: Number(pid), description, prompt },
      ...output,
    },
  };
}

function outcomeOf(args: Args, pid: Pid, ended: Ended): Outcome {
  const { agentId, exit, result, tokensUsed, toolUses = 0, elapsedMs, worktree } = ended;
  const use = `${agentId}, pid ${pid}: ${tokensUsed} tokens, ${(elapsedMs / 1000).toFixed(1)} s`;
  const tree = worktree === undefined ? "" : `its work is in ${worktree.path}, branch ${worktree.branch}`;
  const notes = [...(ONE_SHOT.has(typeOf(args)) ? [] : [use]), ...(tree === "" ? [] : [tree])];
  const own = notes.length === 0 ? "" : `\n\n[${notes.join("; ")}]`;
  const meta = {
    status: "completed",
    agent_id: agentId,
    pid: Number(pid),
    total_tokens: tokensUsed,
    total_tool_use_count: toolUses,
    total_duration_ms: Math.round(elapsedMs),
    ...(worktree === undefined ? {} : { worktree_path: worktree.path, worktree_branch: worktree.branch }),
  };
  if (exit.code === EXIT.completed.code)
    return { text: `${result === "" ? "(it ended without a word)" : result}${own}${modeNote(args)}`, meta };
  const why = `agent ${args.name ?? typeOf(args)} (pid ${pid}) ${exit.kind === "killed" ? "was ended" : "failed"}: ${exit.reason.replace(/^killed: /, "")}${tree === "" ? "" : `; ${tree}`}`;
  if (result === "") throw failure(errorCodeOf(ended), why);
  return {
    text: result,
    // its line has the reason alone: what is above is there for the model
    error: {
      code: errorCodeOf(ended),
      message: why,
      hint: "Above is what it said last; it is not finished.",
    },
  };
}

function errorCodeOf({ exit }: Ended): "CANCELLED" | "BUDGET" | "DRIVER" {
  if (exit.kind === "killed") return "CANCELLED";
  return exit.reason === EXIT.budget.reason || exit.reason === EXIT.maxSteps.reason ? "BUDGET" : "DRIVER";
}
