/** What a status line program is told, from what the terminal has seen and what the daemon says: pure. */
import { DEFAULT_AGENT } from "../../abi/agent.ts";
import type { Result } from "../../abi/methods/methods.ts";
import type { WireSession } from "../../abi/methods/session.ts";
import type { StatusInput, StatusUsage } from "../../abi/print/status-line.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { WireEvent } from "../../abi/wire-events.ts";
import { WORKTREES } from "../../abi/worktree.ts";

/** What this terminal has seen since it opened the session. */
export interface Tally {
  readonly apiMs: number;
  readonly added: number;
  readonly removed: number;
  readonly usage: StatusUsage | null;
}

export const NOTHING_SEEN: Tally = { apiMs: 0, added: 0, removed: 0, usage: null };

export function tallied(tally: Tally, event: WireEvent): Tally {
  if (event.event === "message") {
    const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = event.usage;
    const usage = { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens };
    return { ...tally, apiMs: tally.apiMs + event.duration_ms, usage };
  }
  if (event.event !== "call") return tally;
  const { added = 0, removed = 0 } = event.call.facts ?? {};
  return { ...tally, added: tally.added + added, removed: tally.removed + removed };
}

/** Whatever the daemon could not say is undefined. */
interface Known {
  readonly session: WireSession | undefined;
  readonly context: Result<"context.stat"> | undefined;
  readonly cost: Result<"cost.get"> | undefined;
  readonly costUsd: number;
  readonly tally: Tally;
  readonly model: string;
  readonly mode: PermissionMode;
  readonly cwd: string;
  readonly addedDirs: readonly string[];
  readonly version: string;
  readonly vim: string | undefined;
  /** The branch that is checked out in a folder. */
  readonly branchOf: (folder: string) => string | undefined;
  /** Wall clock, ms. */
  readonly now: number;
}

/** More input than this costs more with some models. */
const LONG_TOKENS = 200_000;

export function statusInput(known: Known): StatusInput {
  const { session, context, tally, model, cwd, vim } = known;
  return {
    session_id: session?.uuid ?? "",
    ...(session === undefined || session.title === "" ? {} : { session_name: session.title }),
    model: { id: model, display_name: model },
    workspace: { current_dir: cwd, project_dir: cwd, added_dirs: known.addedDirs },
    version: known.version,
    output_style: { name: "default" },
    permission_mode: known.mode,
    cost: {
      total_cost_usd: known.costUsd,
      total_duration_ms:
        session === undefined ? 0 : Math.max(0, known.now - new Date(session.created_at).getTime()),
      total_api_duration_ms: Math.round(tally.apiMs),
      total_lines_added: tally.added,
      total_lines_removed: tally.removed,
    },
    ...(context === undefined || context.window === 0
      ? {}
      : { context_window: windowOf(context, known.cost, tally.usage) }),
    exceeds_200k_tokens: (context?.used ?? 0) > LONG_TOKENS,
    ...(vim === undefined ? {} : { vim: { mode: vim.toUpperCase() } }),
    ...(session === undefined || ["", DEFAULT_AGENT].includes(session.name)
      ? {}
      : { agent: { name: session.name } }),
    ...worktreeOf(known),
  };
}

const WORKTREE = new RegExp(`^((.*)/${WORKTREES.replaceAll(".", "\\.")}/)(.+)$`);

/** Where the session works in a worktree; its name is that of its branch, whatever the folder below it. */
function worktreeOf({ cwd, branchOf }: Known): Pick<StatusInput, "worktree"> {
  const [, parent = "", original_cwd = "", below = ""] = WORKTREE.exec(cwd) ?? [];
  if (below === "") return {};
  const [branch, original_branch] = [branchOf(cwd), branchOf(original_cwd)];
  const named = branch?.startsWith("worktree/") === true ? branch.slice("worktree/".length) : below;
  const name = `${below}/`.startsWith(`${named}/`) ? named : below;
  return {
    worktree: {
      ...{ name, path: `${parent}${name}`, original_cwd },
      ...(branch === undefined ? {} : { branch }),
      ...(original_branch === undefined ? {} : { original_branch }),
    },
  };
}

function windowOf(
  { window, used }: Result<"context.stat">,
  cost: Result<"cost.get"> | undefined,
  usage: StatusUsage | null,
) {
  const lines = cost?.lines ?? [];
  const usedShare = Math.min(100, (used / window) * 100);
  return {
    total_input_tokens: lines.reduce((sum, { input, cached }) => sum + input + cached, 0),
    total_output_tokens: lines.reduce((sum, { output }) => sum + output, 0),
    context_window_size: window,
    current_usage: usage,
    used_percentage: usedShare,
    remaining_percentage: 100 - usedShare,
  };
}
