/**
 * The body of a restored agent. Its context is not read yet, and its model and servers are not open: the environment
 * they need was the client's and was kept in memory only. So nothing is opened before the agent resumes; if something
 * fails to open then, the agent is paused.
 */

import type { AgentInfo } from "../../abi/agent.ts";
import { O_RDWR } from "../../abi/device.ts";
import { codeOf, messageOf, printed } from "../../abi/errors.ts";
import type { Notice } from "../../abi/fact.ts";
import type { Pid } from "../../abi/ids.ts";
import type { McpServer } from "../../abi/mcp.ts";
import { EXIT, SIGNALS, type Signal } from "../../abi/process.ts";
import type { Gatekeeping } from "../../kernel/gate/passage.ts";
import { guardServers, type Launching } from "../../kernel/gate/servers.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { type AgentHost, agentBody } from "../../kernel/process/agent-body.ts";
import type { Body, Undo } from "../../kernel/process/body.ts";
import { takeChosen } from "../../kernel/process/chosen-model.ts";
import type { KeptState } from "../../kernel/process/kept-state.ts";
import { stopLending, want } from "../../kernel/process/lending.ts";
import type { Process } from "../../kernel/process/process.ts";
import { startDeadline, type Timing } from "../../kernel/process/spawn/run.ts";
import { abortable } from "../../lib/abort.ts";

/** What an agent that is restored needs of the kernel to resume. */
export type Awakening = { readonly table: { get(pid: Pid): Process | undefined } } & AgentHost &
  Timing &
  Gatekeeping &
  Launching & {
    readonly ports: Pick<KernelPorts, "loadAgent" | "log" | "models">;
    deliver(proc: Process, signal: Signal): Promise<unknown>;
  };

const LLM = "/dev/llm/";

export function restoredBody(core: Awakening, agent: AgentInfo | null, kept: KeptState): Body {
  const body = agentBody(core, agent);
  const run: Body["run"] = async (proc) => {
    if (!(await awaken(core, proc, kept))) return EXIT.unread;
    if (isCutOffAtInput(proc, kept)) {
      proc.log("error", "lost: it had not read its input to the end", core.ports.clock.mono());
      return EXIT.lost;
    }
    // its run time under earlier daemons is known only now
    const stopDeadline = startDeadline(core, proc, kept.timeoutMs);
    try {
      return await body.run(proc);
    } finally {
      stopDeadline();
    }
  };
  return { ...body, run };
}

/** Its input was cut off before it was read to the end, and is kept nowhere else. */
function isCutOffAtInput({ past }: Process, { hasInput }: KeptState): boolean {
  return hasInput && (past.restored?.state ?? null) === null;
}

/** False: its history cannot be read, and its parent goes on and is to be told. */
async function awaken(core: Awakening, proc: Process, kept: KeptState): Promise<boolean> {
  const { signal } = proc.abort;
  for (;;) {
    const begun = await begin(core, proc, kept);
    if (begun !== "paused") {
      stopLending(proc);
      return begun === "ready";
    }
    await proc.halt.untilResumed(signal);
    want(proc, false);
  }
}

async function begin(
  core: Awakening,
  proc: Process,
  kept: KeptState,
): Promise<"ready" | "paused" | "unreadable"> {
  const { signal } = proc.abort;
  const undo: Undo[] = [];
  try {
    await remember(proc);
    takeChosen(core, proc);
    await checkModel(core, proc);
    const isPersons = proc.seed.session.owner?.proc === proc.seed.uuid && kept.isOfAgent !== true;
    const servers = [...(await configured(core, proc, kept.servers)), ...given(core, proc, kept)];
    await mount(core, proc, { servers, isPersons, undo });
    await core.handle(proc, null).open(proc.model.device, O_RDWR, signal);
    return "ready";
  } catch (error) {
    await takeBack(core, proc, undo);
    signal.throwIfAborted();
    proc.log("error", noticeOf(proc, error), core.ports.clock.mono());
    const isDamaged = isUnreadable(proc, error);
    if (isDamaged) proc.past.suspect();
    if (isDamaged && !kept.isInteractive && goesOn(core, proc)) return "unreadable";
    want(proc, true);
    await core.deliver(proc, SIGNALS.SIGPAUSE);
    if (isDamaged) proc.halt.explain("damage");
    return "paused";
  }
}

/** Whether its parent, an agent, can be told of its end. */
function goesOn({ table }: Awakening, { ppid }: Process): boolean {
  const parent = table.get(ppid);
  return parent?.seed.kind === "agent" && parent.isLive && !parent.isPaused;
}

/** Reads the history. This comes first, so that a failure while it is unread is one of the history. */
async function remember({ past, abort }: Process): Promise<void> {
  if (past.isUnread) await abortable(past.recall(), abort.signal);
}

function isUnreadable({ past }: Process, error: unknown): boolean {
  return past.isUnread && codeOf(error) !== "UNAVAILABLE";
}

function noticeOf(proc: Process, error: unknown): Notice {
  const { pid } = proc;
  if (isUnreadable(proc, error))
    return {
      message: `its history cannot be read, so it was not resumed: ${messageOf(error)}`,
      fact: { kind: "damaged", pid },
    };
  const message = `it could not be resumed and is paused again: ${printed(error)}`;
  return { message, fact: { kind: "paused", pid } };
}

/** Checks the model beforehand: a driver may open without its key and fail at the first request, ending the process. */
async function checkModel(core: Awakening, { seed, model, abort }: Process): Promise<void> {
  const wish = { model: `${model.device.slice(LLM.length)}/${model.name}`, provider: "", preferred: "" };
  await abortable(core.ports.models.resolve({ ...wish, env: seed.env }, abort.signal), abort.signal);
}

interface Mounting {
  readonly servers: readonly McpServer[];
  readonly isPersons: boolean;
  readonly undo: Undo[];
}

/**
 * Servers of a process that the user started need no check. For others, they may have changed since they were
 * permitted.
 */
async function mount(core: Awakening, proc: Process, { servers, isPersons, undo }: Mounting): Promise<void> {
  const {
    seed,
    abort,
    halt: { quiescence },
  } = proc;
  const act = () => core.mounts.mountAll({ proc, undo, signal: abort.signal }, servers);
  if (isPersons) return act();
  const pass = { core, self: proc, signal: abort.signal, scope: null, trace: {} };
  quiescence.begin();
  try {
    await guardServers(pass, { syscall: "Mount", device: seed.body.name, servers }, act);
  } finally {
    quiescence.end();
  }
}

/** The servers as now configured in the agent file: the journal does not keep how to connect to them. */
async function configured(
  core: Awakening,
  { seed }: Process,
  servers: readonly string[],
): Promise<readonly McpServer[]> {
  if (servers.length === 0) return [];
  const agent = await core.ports.loadAgent(seed.body.name, seed);
  return agent?.manifest.mcp.filter(({ name }) => servers.includes(name)) ?? [];
}

/** The servers of its client that the journal keeps; of each other the process is told. */
function given(core: Awakening, proc: Process, { given: all = [] }: KeptState): readonly McpServer[] {
  return all.flatMap(({ name, config, lacks, label: _, ...more }) => {
    if (config !== null) return [{ name, config, required: false, ...more }];
    const message = `its MCP server ${name} is gone since the daemon was started again, which does not keep ${lacks}`;
    proc.log("warn", message, core.ports.clock.mono());
    return [];
  });
}

async function takeBack(core: Awakening, proc: Process, undo: readonly Undo[]): Promise<void> {
  for (const step of undo.toReversed()) {
    try {
      await step();
    } catch (error) {
      core.ports.log("warn", `pid ${proc.pid}: taking back a mount: ${messageOf(error)}`);
    }
  }
}
