/** Spawns what a request names: an agent, or a program of the host. */
import type { AgentInfo } from "../../abi/agent.ts";
import { SyscallError } from "../../abi/errors.ts";
import { maskedCommand } from "../../lib/redact/server-label.ts";
import { LIMITS } from "../limits.ts";
import { type AgentHost, agentBody } from "../process/agent-body.ts";
import type { Process } from "../process/process.ts";
import { type Spawning, type SpawnRequest, spawnBody } from "../process/spawn/spawn.ts";
import { inWorktree, type Treeing } from "../process/tree/worktree.ts";
import { type NativeHost, nativeBody } from "./body.ts";
import { nativeOpts } from "./command.ts";

/** What agents and programs of the host need of the kernel. */
export type Hosting = Spawning & AgentHost & NativeHost & Treeing;

interface ProgramRequest extends SpawnRequest {
  readonly agent: AgentInfo | null;
}

/** Spawns an agent, or with `opts.command` a program of the host. */
export function spawnProcess(
  core: Hosting,
  { agent, ...request }: ProgramRequest,
  signal: AbortSignal,
): Promise<Process> {
  const { caller, intent, opts, more = {} } = request;
  const { command: argv, options = {} } = opts;
  if (argv === undefined && opts.worktree !== undefined)
    return inWorktree(core, request, signal, (worktree) => {
      const there = { ...request, opts: { ...opts, cwd: worktree.path }, more: { ...more, worktree } };
      return spawnBody(core, { ...there, body: agentBody(core, agent) }, signal);
    });
  if (argv === undefined) return spawnBody(core, { ...request, body: agentBody(core, agent) }, signal);
  if (agent !== null)
    throw new SyscallError({
      syscall: "Spawn",
      pid: caller.pid,
      code: "INVALID",
      message: "either an agent or a command, not both",
    });
  const body = nativeBody(core, { argv, options, isOutside: more.isOutside === true });
  const words = intent === "" ? maskedCommand(argv).join(" ").slice(0, LIMITS.journalWordsChars) : intent;
  return spawnBody(core, { caller, intent: words, body, opts: nativeOpts(opts, options), more }, signal);
}
