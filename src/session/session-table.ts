/**
 * All sessions: those in the process table, and the resting ones. A resting session is only a row of the journal, with
 * nothing in memory; it can be sent messages, opened and ended like any other.
 */

import { COORDINATOR } from "../abi/child.ts";
import { codeOf, Fault, messageOf } from "../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../abi/ids.ts";
import type { McpServer } from "../abi/mcp.ts";
import { type Disposition, EXIT, SIGNALS, type Signal } from "../abi/process.ts";
import { changed, checkFolders, givenTo, isChanged } from "../history/recover/session-change.ts";
import { isWaking, resumeWith, type Waking, wake } from "../history/recover/wake.ts";
import { LIMITS } from "../kernel/limits.ts";
import type { ProcessRow } from "../kernel/ports/journal.ts";
import type {
  Aside,
  AsideWish,
  AwakeOptions,
  EndedUnread,
  HistoryPage,
  HistoryWish,
  SessionChange,
  SessionGround,
  SessionState,
  Sessions,
  SessionView,
} from "../kernel/ports/sessions.ts";
import { untilGone } from "../kernel/process/end/shutdown.ts";
import { keptState } from "../kernel/process/kept-state.ts";
import { isInWant, lendEnv } from "../kernel/process/lending.ts";
import { recalled } from "../kernel/process/past.ts";
import type { Process } from "../kernel/process/process.ts";
import type { ProcessTable } from "../kernel/process/table.ts";
import { Serial } from "../lib/serial.ts";
import { type Asking, askAside } from "./aside.ts";
import { pageOf } from "./history-page.ts";
import { firstWords } from "./title.ts";

/** What the table of sessions needs of the kernel. */
type Keeping = Waking &
  Asking & {
    readonly table: Pick<ProcessTable, "require">;
    deliver(proc: Process, signal: Signal): Promise<Disposition>;
    /** The session may be idle from now on. */
    idle(proc: Process): void;
    /** False: it is not idle, or a client follows it. */
    restNow(proc: Process): boolean;
  };

/** Attempts to write about a resting session: a write fails if the session is restored at that moment. */
const TRIES = 3;

export class SessionTable implements Sessions {
  readonly #core: () => Keeping;
  /** Each change begins with what the one before it has recorded. */
  readonly #widening = new Serial();

  constructor(core: () => Keeping) {
    this.#core = core;
  }

  async list({ cwd, all = false }: { cwd?: string; all?: boolean }): Promise<readonly SessionView[]> {
    const { ports, table } = this.#core();
    const where = cwd === undefined ? {} : { cwd };
    // all sessions that have not ended are included
    const live = await ports.journal.rows({ session: true, live: true, ...where });
    const ended = all ? await ports.journal.rows({ session: true, live: false, ...where }) : [];
    const shown = [...live, ...ended].sort((a, b) => b.lastAt - a.lastAt);
    return shown.map((row) => viewOf(row, table.get(row.pid)));
  }

  /** It is in memory and not about to rest: calls act on it directly. */
  isHere(pid: Pid): boolean {
    const proc = this.#core().table.get(pid);
    return proc !== undefined && !proc.life.isResting;
  }

  async view(pid: Pid): Promise<SessionView> {
    return viewOf(await this.#require(pid), this.#core().table.get(pid));
  }

  async ground(pid: Pid): Promise<SessionGround> {
    const { ports, table } = this.#core();
    const { roots, seed } = table.require(PID_KERNEL, pid, "Session", "see");
    const record = (await ports.journal.ofKind(seed.uuid, "process.state")).at(-1);
    const { servers = [], given = [] } = record === undefined ? {} : keptState(record);
    // one with secrets is there only where the process began under this daemon
    const kept = given.filter(({ config }) => config !== null);
    const all = [...(seed.agent?.manifest.mcp ?? []), ...kept].map(({ name }) => name);
    return { dirs: roots, servers: [...new Set([...servers, ...all])] };
  }

  async awake(pid: Pid, { env, session }: AwakeOptions = {}): Promise<void> {
    const core = this.#core();
    await untilGone(core.table.get(pid));
    const found = core.table.get(pid);
    if (found?.isLive === true) return env === undefined ? undefined : lend(core, found, env);
    const row = await this.#row(pid);
    if (row === undefined) return;
    const rests = row.isSession && row.exit === null && found === undefined;
    if (!rests && session !== true) return;
    const own = env === undefined ? {} : { env };
    const proc = await wake(core, pid, rests ? own : { ...own, session: true });
    const { conversation } = proc;
    if (conversation === null) return;
    if (conversation.title === "") conversation.entitle(row.title);
    core.idle(proc);
  }

  keepMode(pid: Pid, isForCoordinator: boolean): void {
    const { ports, table } = this.#core();
    const proc = table.get(pid);
    if (proc === undefined || (proc.seed.body.name === COORDINATOR) === isForCoordinator) return;
    const words = isForCoordinator
      ? "this session began without a coordinator and stays so; a new one begins with it"
      : "this session began as that of a coordinator and stays so";
    proc.log("warn", words, ports.clock.mono());
  }

  async change(pid: Pid, { env, ...change }: SessionChange): Promise<void> {
    const core = this.#core();
    core.journalWatch.check("Change");
    if ((change.systemPrompt?.length ?? 0) > LIMITS.messageChars)
      throw new Fault({
        code: "INVALID",
        message: `a system prompt has at most ${LIMITS.messageChars} characters`,
      });
    const { isSession, exit, title, cwd } = await this.#require(pid);
    const found = core.table.get(pid);
    if (found?.life.isHere === true) {
      await recalled(found);
      if (env !== undefined) await lend(core, found, env);
      if (!isChanged(core, found, change)) return;
    }
    checkFolders(core, { pid, cwd }, change.dirs ?? []);
    if (found?.life.isHere === true && !core.restNow(found)) {
      const { dirs = [], ...rest } = change;
      if (isChanged(core, found, rest)) throw inUse(pid);
      return this.#widening.run(() => letInto(core, found, dirs));
    }
    await untilGone(found);
    if (core.table.get(pid) !== undefined || isWaking(core, pid)) throw inUse(pid);
    // what it had in memory alone goes with it
    const held = found === undefined ? [] : givenTo(found);
    const isKept = ({ name }: McpServer) => change.servers?.every((each) => each.name !== name) !== false;
    const servers = [...held.filter(isKept), ...(change.servers ?? [])];
    const proc = await wake(core, pid, {
      ...(env === undefined ? {} : { env }),
      ...(isSession && exit === null ? {} : { session: true }),
      change: { ...change, servers },
    });
    if (proc.conversation?.title === "") proc.conversation.entitle(title);
    core.idle(proc);
  }

  resumeWith(...[pid, letter, env]: Parameters<Sessions["resumeWith"]>): ReturnType<Sessions["resumeWith"]> {
    return resumeWith(this.#core(), pid, { letter, env });
  }

  async readOn({ pid, ppid, seed: { env } }: EndedUnread): Promise<void> {
    const core = this.#core();
    try {
      await wake(core, pid, { env, by: ppid, paused: false });
    } catch (error) {
      core.ports.log("warn", `pid ${pid}: it has ended with a message unread: ${messageOf(error)}`);
    }
  }

  /** Applies a client's signal to a resting session: it ends it or resumes it. undefined: the session does not rest. */
  async signalResting(pid: Pid, signal: Signal): Promise<Disposition | undefined> {
    const core = this.#core();
    for (let tries = 1; ; tries++) {
      await untilGone(core.table.get(pid));
      if (core.table.get(pid) !== undefined) return undefined;
      const row = await this.#row(pid);
      if (row === undefined || !row.isSession || row.exit !== null) return undefined;
      core.journalWatch.check("Signal");
      const exit = ENDS[signal];
      if (exit === undefined) return this.#goOn(pid, signal);
      try {
        await endResting(core, row, exit);
        return "default";
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "CONFLICT" || tries >= TRIES) throw error;
      }
    }
  }

  async aside(pid: Pid, wish: AsideWish): Promise<Aside> {
    const core = this.#core();
    await this.awake(pid, wish.env === undefined ? {} : { env: wish.env });
    return askAside(core, core.table.require(PID_KERNEL, pid, "Aside", "control"), wish);
  }

  async history(pid: Pid, options: HistoryWish): Promise<HistoryPage> {
    const row = await this.#require(pid);
    const { journal } = this.#core().ports;
    // includes notes that are not written yet; if the disk refuses, what is there can still be read
    await journal.sync().catch(() => {});
    return pageOf(journal, (await journal.row(row.proc)) ?? row, options);
  }

  async describe(pid: Pid, { title, kept }: { title?: string; kept?: boolean }): Promise<void> {
    const core = this.#core();
    const words = title === undefined ? undefined : titleOf(title);
    core.journalWatch.check("Describe");
    const body = {
      ...(words === undefined ? {} : { title: words }),
      ...(kept === undefined ? {} : { kept }),
    };
    await this.#say(pid, body);
    if (words !== undefined) core.table.get(pid)?.conversation?.entitle(words);
  }

  /**
   * Withdraws a message; synced when it resolves. If the disk refuses, the message stays in the mailbox. CONFLICT: it
   * has been read already, or does not exist.
   */
  async withdraw(pid: Pid, seq: number): Promise<void> {
    const core = this.#core();
    const proc = core.table.require(PID_KERNEL, pid, "Withdraw", "control");
    core.journalWatch.check("Withdraw");
    const message = proc.mailbox?.withdraw(seq);
    if (message === undefined) {
      const words = `message ${seq} does not wait for process ${pid}: it has been read, or there is none`;
      throw new Fault({ code: "CONFLICT", message: words });
    }
    const record = { proc: proc.seed.uuid, pid, kind: "mail.done", v: 1, body: { seq } } as const;
    try {
      await core.ports.journal.append([record]);
    } catch (error) {
      proc.mailbox?.putBack(message);
      throw error;
    }
    proc.tell({ event: "withdrawn", pid, seq }, core.ports.clock.mono());
    core.idle(proc);
  }

  /**
   * Records a title or the kept flag. `expect` avoids writing about a resting session that retention removes meanwhile.
   */
  async #say(pid: Pid, body: { title?: string; kept?: boolean }): Promise<void> {
    const { ports, table } = this.#core();
    for (let tries = 1; ; tries++) {
      const { proc, lastSeq } = await this.#require(pid);
      const options = table.get(pid) === undefined ? { expect: lastSeq } : {};
      try {
        await ports.journal.append([{ proc, pid, kind: "process.described", v: 1, body }], options);
        return;
      } catch (error) {
        if (codeOf(error) !== "CONFLICT" || tries >= TRIES) throw error;
      }
    }
  }

  /** RESUME wakes a resting session; PAUSE and INT have no effect on it. */
  async #goOn(pid: Pid, signal: Signal): Promise<Disposition> {
    if (signal !== SIGNALS.SIGRESUME) return "ignored";
    await this.awake(pid);
    return "default";
  }

  async #row(pid: Pid): Promise<ProcessRow | undefined> {
    const { journal } = this.#core().ports;
    const uuid = await journal.processOf(pid);
    return uuid === undefined ? undefined : journal.row(uuid);
  }

  async #require(pid: Pid): Promise<ProcessRow> {
    const row = await this.#row(pid);
    if (row !== undefined) return row;
    throw new Fault({
      code: "NOT_FOUND",
      message: `process not found: ${pid}`,
      fact: { kind: "no_history", pid },
    });
  }
}

const ENDS: Readonly<Partial<Record<Signal, (typeof EXIT)["sigterm" | "sigkill"]>>> = {
  [SIGNALS.SIGTERM]: EXIT.sigterm,
  [SIGNALS.SIGKILL]: EXIT.sigkill,
};

/** CONFLICT: the session has records newer than its row. */
async function endResting(
  { ports }: Keeping,
  { proc, pid, lastSeq, tokensUsed }: ProcessRow,
  exit: (typeof EXIT)["sigterm" | "sigkill"],
): Promise<void> {
  const body = { ...exit, result: "", tokensUsed };
  await ports.journal.append([{ proc, pid, kind: "process.exited", v: 1, body }], { expect: lastSeq });
  await ports.onReaped(proc);
}

/** Lends an environment, and resumes a process paused for lack of one; one that the user paused stays paused. */
async function lend(core: Keeping, proc: Process, env: Readonly<Record<string, string>>): Promise<void> {
  lendEnv(proc, env);
  if (isInWant(proc)) await core.deliver(proc, SIGNALS.SIGRESUME);
}

function titleOf(text: string): string {
  const title = text.trim().replace(/\s+/g, " ");
  if (title !== "" && title.length <= LIMITS.titleChars) return title;
  const message =
    title === ""
      ? "the title is empty"
      : `a title has at most ${LIMITS.titleChars} characters, not ${title.length}`;
  throw new Fault({ code: "INVALID", message });
}

/** Folders alone are added to a session that works: from its next call on, and for the children that it starts then. */
async function letInto({ ports }: Keeping, proc: Process, dirs: readonly string[]): Promise<void> {
  const { pid, seed, life } = proc;
  const record = (await ports.journal.ofKind(seed.uuid, "process.state")).at(-1);
  if (record === undefined || !life.isHere) throw inUse(pid);
  const body = changed({ ports }, keptState(record), { dirs });
  await ports.journal.append([{ proc: seed.uuid, pid, kind: "process.state", v: 2, body }]);
  proc.addRoots(dirs.map(ports.realPath));
}

function inUse(pid: Pid): Fault {
  const message = `session ${pid} works, or another client is in it: what it works with is changed while it does nothing`;
  return new Fault({ code: "CONFLICT", message, hint: `crux logs -f ${pid} shows what it does` });
}

/** The view from its row, with newer values from memory if it is there. */
function viewOf(row: ProcessRow, live: Process | undefined): SessionView {
  const isHere = live !== undefined && live.seed.uuid === row.proc;
  return {
    pid: row.pid,
    uuid: row.proc,
    title: row.title || (isHere ? live.conversation?.title : "") || firstWords(row.intent),
    name: row.name,
    cwd: row.cwd,
    state: isHere ? liveState(live) : row.exit === null ? "resting" : "ended",
    createdAt: row.createdAt,
    lastAt: row.lastAt,
    tokensUsed: isHere ? Math.max(live.used.tokens, row.tokensUsed) : row.tokensUsed,
    turns: row.turns,
    isKept: row.isKept,
  };
}

function liveState(proc: Process): SessionState {
  if (!proc.isLive) return "ended";
  if (proc.halt.why !== null) return "paused";
  if (proc.halt.openAsks > 0) return "blocked";
  const { conversation } = proc;
  return conversation !== null && conversation.run === null ? "waiting" : "running";
}
