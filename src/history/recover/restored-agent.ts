/** Restores an agent: its shared limits and session, and the reading of its history when it resumes. */

import type { AgentInfo } from "../../abi/agent.ts";
import { FORK } from "../../abi/fork.ts";
import { asPid } from "../../abi/ids.ts";
import type { McpServer } from "../../abi/mcp.ts";
import { limitsAtSpawn } from "../../kernel/account/kept-account.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { agentOf, type KeptState } from "../../kernel/process/kept-state.ts";
import { mayBorrow } from "../../kernel/process/lending.ts";
import type { Process } from "../../kernel/process/process.ts";
import { type Recall, type Recalling, recallWith } from "./contents.ts";
import { type OfKind, type Rebuilding, type Remains, restore } from "./restore.ts";
import { type Awakening, restoredBody } from "./restored-body.ts";
import { rightsLeft, serversGiven } from "./session-change.ts";
import type { Shares } from "./shares.ts";

/** What restoring an agent needs of the kernel. */
export type AgentRestoring = Rebuilding &
  Recalling &
  Awakening & {
    readonly ports: Pick<KernelPorts, "env" | "scratchDir">;
    readonly root: Process;
  };

export interface AgentRemains extends Remains {
  readonly kept: KeptState;
}

export interface Restoring extends Recall {
  readonly shares: Shares;
  /**
   * The environment of the client that restores it; absent: the daemon's own is used until a client lends its
   * environment.
   */
  readonly env?: Readonly<Record<string, string>>;
}

/** Throws like restore(). */
export function restoreAgent(core: AgentRestoring, remains: AgentRemains, restoring: Restoring): Process {
  const { spawned } = remains;
  const parent = core.table.get(asPid(spawned.ppid));
  const shared = sharedBy(core, remains, { parent, shares: restoring.shares });
  return restore(core, remains, {
    parent: parent ?? core.root,
    highest: parent?.mode,
    own: { ...ownSeed(core, remains, restoring.env), ...shared },
    fill: (proc) => {
      proc.contexts.open(core.contexts);
      const { modelDevice: device, model, thinking, effort, fallbacks = [] } = spawned;
      proc.model.choose({
        ...{ device, model, fallbacks },
        ...(thinking === undefined ? {} : { thinking }),
        ...(effort === undefined ? {} : { effort }),
      });
      mayBorrow(core, proc);
      proc.past.back(recallWith(core, proc, restoring));
    },
  });
}

type Own = OfKind["own"];

function sharedBy(
  core: AgentRestoring,
  { owner, spawned, kept, spentInTree, ranMs }: AgentRemains,
  { parent, shares }: { readonly parent: Process | undefined; readonly shares: Shares },
): Pick<Own, "account" | "session"> {
  const over = parent?.seed.account ?? shares.above(spawned.accounts);
  const session = parent?.seed.session ?? shares.session(kept.session);
  if (kept.isInteractive) session.approvers.expect(core.ports.clock.mono());
  const account = shares.account(owner, {
    atSpawn: limitsAtSpawn(spawned),
    above: () => over,
    spent: spentInTree,
    depth: spawned.depth ?? 0,
  });
  account.work.atLeast(account.limits.wallMs === undefined ? 0 : ranMs);
  return { account, session };
}

function ownSeed(
  core: AgentRestoring,
  { owner, spawned, kept, rights }: AgentRemains,
  env: Restoring["env"] = core.ports.env,
): Omit<Own, "account" | "session"> {
  const agent = withServers(agentOf(kept), serversGiven(kept));
  const scratch = core.ports.scratchDir(owner.proc);
  const { agents = spawned.agents } = kept;
  return {
    kind: "agent",
    body: restoredBody(core, agent, kept),
    agent,
    roots: kept.roots,
    scratch,
    env: { ...env, CRUX_SCRATCH: scratch },
    rights: rightsLeft(rights, kept),
    onParentExit: kept.onParentExit,
    ...(kept.isSession ? { isSession: true } : {}),
    ...(agents === undefined ? {} : { agents }),
    ...(spawned.child === undefined ? {} : { child: spawned.child }),
    ...(spawned.fork === FORK ? { fork: { label: FORK } } : {}),
    ...(kept.isOfAgent === true ? { tasks: [spawned.intent, ...(kept.tasks ?? [])] } : {}),
    ...(kept.client === "" ? {} : { client: kept.client }),
  };
}

/** Its own are mounted when it resumes, by name. */
function withServers(agent: AgentInfo | null, mcp: readonly McpServer[]): AgentInfo | null {
  return agent === null ? null : { ...agent, manifest: { ...agent.manifest, mcp } };
}
