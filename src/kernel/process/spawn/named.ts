/** A spawn that names its agent: the file is found as its caller would find it, and what it leaves open is decided here. */
import type { AgentInfo } from "../../../abi/agent.ts";
import { SyscallError } from "../../../abi/errors.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import { abortable } from "../../../lib/abort.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Process } from "../process.ts";

/** Follows the task of a child in a worktree. */
const IN_TREE =
  "(You work in a git worktree of your own, on a branch of your own: it begins with the last commit, without what is not " +
  "committed elsewhere. Commit what is to stay.)";
/** In small letters only: the model of the caller. */
const INHERIT = "inherit";
const TOP_ALONE = "an agent in a worktree works at its top: it is given no other folder";

export interface NamedStarting {
  readonly ports: Pick<KernelPorts, "loadAgent">;
}

interface Wish {
  readonly intent: string;
  readonly agent: AgentInfo | string | null;
  readonly opts: SpawnOpts;
}

/** Errors: those of loading an agent. */
export async function loadedAgent(
  core: NamedStarting,
  caller: Process,
  { intent, agent: named, opts }: Wish,
  signal: AbortSignal,
): Promise<Wish & { readonly agent: AgentInfo | null }> {
  if (typeof named !== "string") return { intent, agent: named, opts };
  const { cwd, env, agents = {} } = caller.seed;
  const seeker = { cwd: opts.cwd ?? cwd, env, agents };
  const agent = await abortable(core.ports.loadAgent(named, seeker), signal);
  const { models = {}, maxSteps = 0, background = false, isolation } = agent?.manifest ?? {};
  const hasOwn = models.preferred !== undefined || models.provider !== undefined;
  const wished = env.CRUX_SUBAGENT_MODEL || opts.model || (hasOwn ? "" : INHERIT);
  const model = wished === INHERIT ? modelOf(caller) : wished;
  const maxTurns = opts.maxTurns || maxSteps || LIMITS.childSteps;
  const { child } = opts;
  const alone = background && child !== undefined ? { child: { ...child, isBackground: true as const } } : {};
  const worktree = opts.worktree ?? (isolation !== undefined && child !== undefined ? "" : undefined);
  if (worktree !== undefined && child !== undefined && opts.cwd !== undefined)
    throw new SyscallError({ syscall: "Spawn", pid: caller.pid, code: "INVALID", message: TOP_ALONE });
  const tree = worktree === undefined ? {} : { worktree };
  const task = worktree === undefined || child === undefined ? intent : `${intent}\n\n${IN_TREE}`;
  const more = { ...alone, ...tree, maxTurns, ...(model === "" ? {} : { model }) };
  return { intent: task, agent, opts: { ...opts, ...more } };
}

/** "": it has none. */
function modelOf({ model: { device, name } }: Process): string {
  return device === "" ? "" : `${device.slice("/dev/llm/".length)}/${name}`;
}
