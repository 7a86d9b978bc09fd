/**
 * The running compose projects of this daemon, and the last ended ones. Requests for one name run one after another.
 */

import type { ProjectEvent, ProjectView } from "../../abi/compose/compose.ts";
import { SyscallError } from "../../abi/errors.ts";
import type { Fact } from "../../abi/fact.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Member } from "../../abi/member.ts";
import type { CrashReport } from "../../abi/supervise.ts";
import { type EndSearch, endOf as endOfProcess } from "../../kernel/facts/ended.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { Journal } from "../../kernel/ports/journal.ts";
import type { Projects, ProjectUp } from "../../kernel/ports/projects.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import { abortable, linkSignals } from "../../lib/abort.ts";
import { Serial } from "../../lib/serial.ts";
import { ProjectFeed } from "./feed.ts";
import { Project, type ProjectKernel } from "./project.ts";
import type { PastProject, ProjectRoster, RunningProject, Standing } from "./roster.ts";
import { endOf, type LogWish, logsOf } from "./view.ts";

/** What the projects of the user need of the kernel. */
type Projecting = ProjectKernel & EndSearch;

export function makeProjects(core: () => Projecting): Projects & ProjectRoster {
  return new ProjectTable(core);
}

class ProjectTable implements Projects, ProjectRoster {
  readonly #core: () => Projecting;
  readonly #running = new Map<string, RunningProject>();
  /** Ended projects by name; the newest last. */
  readonly #past = new Map<string, PastProject>();
  /** A queue for each name that is being brought up. */
  readonly #lanes = new Map<string, { readonly serial: Serial; users: number }>();

  constructor(core: () => Projecting) {
    this.#core = core;
  }

  async up(
    request: ProjectUp,
    signal?: AbortSignal,
  ): Promise<{ pid: Pid; events: Subscription<ProjectEvent> }> {
    const { name } = request.project;
    this.#core().journalWatch.check("Compose");
    using linked = linkSignals(this.#core().root.abort.signal, signal);
    return await this.#alone(name, linked.signal, () => this.#up(request, linked.signal));
  }

  memberOf(proc: Standing): Member | undefined {
    return this.#membersBeside(proc).find(({ pid }) => pid === proc.pid);
  }

  fellowsOf(proc: Standing): readonly Member[] {
    const members = this.#membersBeside(proc);
    if (members.find(({ pid }) => pid === proc.pid)?.mayWrite !== true) return [];
    return members.filter(({ pid }) => pid !== proc.pid);
  }

  /** The members of the project whose supervisor is its parent. */
  #membersBeside({ ppid }: Standing): readonly Member[] {
    if (ppid === PID_KERNEL) return [];
    for (const project of this.#running.values()) if (project.pid === ppid) return project.members;
    return [];
  }

  enter(project: RunningProject): void {
    this.#running.set(project.name, project);
    void project.over.then(() => this.#ended(project));
  }

  async rejoin(name: string, pid: Pid, env: ProjectUp["env"]): Promise<Subscription<ProjectEvent>> {
    const running = this.#running.get(name);
    if (running?.pid === pid) return running.rejoin(env);
    const past = this.#past.get(name);
    if (past?.view.pid === pid) return past.feed.rejoin();
    const feed = await endedFeed(this.#core(), name, pid);
    if (feed !== undefined) return feed.rejoin();
    const message = `this request has brought project ${name} up as process ${pid}, which is not running now`;
    throw refusal("CONFLICT", message, { kind: "project_ended" });
  }

  async down(name: string, timeoutMs: number): Promise<void> {
    await this.#require(name).down(timeoutMs);
  }

  async kill(name: string): Promise<void> {
    await this.#require(name).kill();
  }

  view(name: string): ProjectView {
    return this.#find(name).view;
  }

  async logs(name: string, wish: LogWish): Promise<Subscription<ProjectEvent>> {
    return logsOf(this.#find(name), wish);
  }

  async #up(
    request: ProjectUp,
    signal: AbortSignal,
  ): Promise<{ pid: Pid; events: Subscription<ProjectEvent> }> {
    const running = this.#running.get(request.project.name);
    if (running?.isEnding === true) await abortable(running.over, signal);
    else if (running !== undefined) return follow(running, () => running.change(request));
    const project = new Project(this.#core(), request);
    const up = await follow(project, () => project.start(request));
    this.enter(project);
    return up;
  }

  #ended(project: RunningProject): void {
    const { name, view, feed } = project;
    if (this.#running.get(name) === project) this.#running.delete(name);
    this.#past.delete(name);
    this.#past.set(name, { view, feed });
    const [oldest = name] = this.#past.keys();
    if (this.#past.size > LIMITS.projectsEnded) this.#past.delete(oldest);
  }

  /** CANCELLED: the client left while its request waited for its turn. */
  async #alone<T>(name: string, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(name) ?? { serial: new Serial(), users: 0 };
    this.#lanes.set(name, lane);
    lane.users++;
    try {
      return await lane.serial.run(act, signal);
    } catch (error) {
      throw error === signal.reason
        ? refusal("CANCELLED", `bringing up project ${name} was given up`)
        : error;
    } finally {
      lane.users--;
      if (lane.users === 0) this.#lanes.delete(name);
    }
  }

  #require(name: string): RunningProject {
    const found = this.#running.get(name);
    if (found !== undefined) return found;
    throw refusal("NOT_FOUND", `no project ${name} is running`, { kind: "project_down" });
  }

  #find(name: string): PastProject {
    const found = this.#running.get(name) ?? this.#past.get(name);
    if (found !== undefined) return found;
    throw refusal("NOT_FOUND", `no project ${name}`, { kind: "no_project" });
  }
}

/** Subscribes before the project begins, so that no event is missed. */
async function follow(
  project: RunningProject,
  begin: () => Promise<void>,
): Promise<{ pid: Pid; events: Subscription<ProjectEvent> }> {
  const events = project.watch();
  try {
    await begin();
    return { pid: project.pid, events };
  } catch (error) {
    events.close();
    throw error;
  }
}

function refusal(code: "NOT_FOUND" | "CANCELLED" | "CONFLICT", message: string, fact?: Fact): SyscallError {
  return new SyscallError({ syscall: "Compose", pid: PID_KERNEL, code, message, fact });
}

const PAGE = 256;

/** A feed with the end of a project that only the journal knows. undefined: not ended, or its history was removed. */
async function endedFeed(core: EndSearch, name: string, pid: Pid): Promise<ProjectFeed | undefined> {
  const { journal } = core.ports;
  const uuid = await journal.processOf(pid);
  const row = uuid === undefined ? undefined : await journal.row(uuid);
  const ended = await endOfProcess(core, pid);
  if (row === undefined || ended === undefined) return undefined;
  const { exit, elapsedMs } = ended;
  const feed = new ProjectFeed();
  const code = await firstFailure(journal, row.proc);
  feed.publish(endOf(name, exit, { code, tokens: row.limitUsed, elapsedMs }));
  feed.end();
  return feed;
}

/** The exit code of the first service that failed finally; 0: none. */
async function firstFailure(journal: Journal, proc: ProcUuid): Promise<number> {
  for (let from = 1; ; from += PAGE) {
    const page = await journal.read(proc, from, PAGE);
    const crashes = page
      .filter(({ kind }) => kind === "supervisor.crash")
      .map(({ body }) => body as CrashReport);
    const failed = crashes.find(({ exit, decision }) => exit.code !== 0 && FINAL.has(decision));
    if (failed !== undefined || page.length === 0) return failed?.exit.code ?? 0;
  }
}

const FINAL: ReadonlySet<CrashReport["decision"]> = new Set(["drop", "escalate"]);
