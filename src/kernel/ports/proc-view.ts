/** The content of /proc, and what agents have said: the kernel gives copies, the device presents them as files. */
import type { ContextStat, ViewState } from "../../abi/context.ts";
import type { Fd, Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { LaneQueue, SchedView } from "../../abi/lanes.ts";
import type { JobView } from "../../abi/ops/jobs.ts";
import type { ProcInfo } from "../../abi/process.ts";
import type { AccountView } from "../../abi/program.ts";
import type { SupervisorView } from "../../abi/supervise.ts";

/** What an agent has said so far. */
export interface AgentWords {
  /** The sources of what it has read; none where the reader is the agent itself. */
  readonly labels: readonly Label[];
  /** Its words, and a line for each of its calls; each time the same. */
  pieces(): AsyncIterable<string>;
}

export interface ProcView {
  /** The processes `viewer` may see, by rising pid. Pid 0 sees all. */
  list(viewer: Pid): readonly ProcInfo[];
  /** undefined: no such process, or not visible to the viewer. */
  find(viewer: Pid, pid: Pid): ProcInfo | undefined;
  /**
   * GetContextSummary; "" once the context is freed. Reads the history of a restored process if it was not needed
   * before.
   */
  contextSummary(pid: Pid): Promise<string>;
  /** Which messages are in view, by their numbers. undefined: it has no context, or its context is freed. */
  contextView(pid: Pid): Promise<ViewState | undefined>;
  /** What is in view, in numbers and without a word of it. undefined: it has no context. */
  contextStat(pid: Pid): Promise<Omit<ContextStat, "messages"> | undefined>;
  /** Its commands in the background. */
  jobs(pid: Pid): Promise<readonly JobView[]>;
  /** The value that a device keeps for the process under this name. */
  kept(pid: Pid, name: string): Promise<unknown>;
  /** The host path of its plan; null: it has none. */
  planPath(pid: Pid): string | null;
  /** By its lasting name. undefined: neither the viewer nor an agent below it has it, or its history was removed. */
  words(viewer: Pid, agent: string): Promise<AgentWords | undefined>;
  /** The sources of what it has read. */
  labels(pid: Pid): Promise<readonly Label[]>;
  fds(pid: Pid): readonly { fd: Fd; path: string; flags: number }[];
  account(pid: Pid): AccountView;
  /** Its class and weight in the lanes of models, and what it waits for. */
  sched(pid: Pid): SchedView | undefined;
  /** The lanes of a device, with those waiting processes that `viewer` may see. */
  lanes(viewer: Pid, device: string): readonly LaneQueue[];
  /** Numbers of signals, rising. */
  signals(pid: Pid): {
    readonly blocked: readonly number[];
    readonly pending: readonly number[];
    readonly handled: readonly number[];
  };
  /** Lists of names of tools; it may call what is in all of `within`, and in none of `denied`. */
  tools(pid: Pid): { readonly within: readonly (readonly string[])[]; readonly denied: readonly string[] };
  /** The MCP servers that it may open, by path. `name`: the name in rules. */
  servers(pid: Pid): readonly { readonly name: string; readonly path: string; readonly state: string }[];
  /** Its own mounts. `device` names the server, without secrets. */
  mounts(pid: Pid): readonly { readonly path: string; readonly device: string }[];
  /** undefined: it is not a running supervisor. */
  supervisor(pid: Pid): SupervisorView | undefined;
}
