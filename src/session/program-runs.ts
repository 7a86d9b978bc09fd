/** The calls by which the program of a session reports its runs; each run gets a separate handle. */

import { codeOf, Fault, factOf, printed, SyscallError } from "../abi/errors.ts";
import type { RunEnd } from "../abi/events.ts";
import { PID_KERNEL } from "../abi/ids.ts";
import { ENDS, type Terminal } from "../abi/loop.ts";
import type { ExitStatus } from "../abi/process.ts";
import type { RunInput } from "../abi/program.ts";
import { LIMITS } from "../kernel/limits.ts";
import type { RecordKind } from "../kernel/ports/journal.ts";
import type { JournalHold } from "../kernel/ports/journal-hold.ts";
import type { KernelPorts } from "../kernel/ports/kernel-ports.ts";
import type { RunFailure } from "../kernel/ports/sessions.ts";
import type { Conversation } from "../kernel/process/conversation.ts";
import { isInBackground } from "../kernel/process/end/report.ts";
import { liveJobs } from "../kernel/process/jobs.ts";
import type { Process } from "../kernel/process/process.ts";
import type { ProcessTable } from "../kernel/process/table.ts";
import { findShellNote } from "../lib/text/shell-line.ts";
import { firstWords } from "./title.ts";

/** One run: its calls and waits end with `signal`, and it only takes messages of `client`. */
export interface RunSeat {
  readonly signal: AbortSignal;
  readonly client: string;
}

/** The part of the kernel that a session needs. */
export interface SessionRunning {
  readonly ports: Pick<KernelPorts, "clock" | "journal" | "log" | "jobs">;
  readonly journalWatch: Pick<JournalHold<Process>, "heldUntil">;
  readonly table: Pick<ProcessTable, "childrenOf">;
  note(proc: Process, kind: RecordKind, body: unknown): void;
  idle(proc: Process): void;
}

interface Ended {
  readonly reason: Terminal["reason"];
  readonly exit: ExitStatus;
}

/** A call of the program: the process, and the part of the kernel that it needs. */
interface Running {
  readonly core: SessionRunning;
  readonly proc: Process;
}

interface Input {
  readonly given: RunInput;
  /** Clients were not notified of it yet. */
  readonly isNew: boolean;
}

export function beginRun(core: SessionRunning, proc: Process, { given, isNew }: Input): RunSeat {
  const { seq, client } = given;
  const startedMono = core.ports.clock.mono();
  const run = { seq, client, words: wordsOf(given), startedMono, tokensBefore: proc.used.tokens };
  const signal = conversationOf(proc).begin(run, proc.abort.signal);
  proc.conclude("");
  proc.refusals.clear();
  if (isNew) tellInput(core, proc, { input: given, joins: false });
  return { signal, client };
}

/** The other calls of a program about its runs. */
export const RUNS = {
  joinRun: ({ core, proc }: Running, input: RunInput): void => {
    conversationOf(proc).hear(wordsOf(input));
    tellInput(core, proc, { input, joins: true });
  },
  isQueued: ({ proc }: Running, seq: number): boolean => {
    const look = (): boolean => proc.mailbox?.has((message) => message.seq === seq) === true;
    return proc.tape === null ? look() : proc.tape.input("isQueued", look);
  },
  reply: ({ core, proc }: Running, text: string): void =>
    proc.tell({ event: "reply", pid: proc.pid, text }, core.ports.clock.mono()),
  endRun: async ({ core, proc }: Running, reason: Terminal["reason"], exit: ExitStatus): Promise<void> => {
    noteFailure(core, proc, { reason, exit });
    await durable(core, proc);
    end(core, proc, { reason, exit });
  },
};

function tellInput(
  core: SessionRunning,
  proc: Process,
  { input, joins }: { readonly input: RunInput; readonly joins: boolean },
): void {
  nameIt(core, proc, input.text);
  proc.tell({ event: "input", pid: proc.pid, ...input, joins }, core.ports.clock.mono());
}

/** What the user has said; "": the message is of another process. */
function wordsOf({ from, text }: RunInput): string {
  return from === PID_KERNEL ? text : "";
}

function conversationOf({ pid, conversation }: Process): Conversation {
  if (conversation !== null) return conversation;
  const message = "it is not a session: it has one run";
  throw new SyscallError({ syscall: "Run", pid, code: "INVALID", message });
}

/** Takes the title from the first message, until the user gives another. */
function nameIt(core: SessionRunning, proc: Process, text: string): void {
  const conversation = conversationOf(proc);
  if (conversation.title !== "" || proc.seed.intent !== "" || findShellNote(text) !== undefined) return;
  const title = firstWords(text);
  conversation.entitle(title);
  if (title !== "") core.note(proc, "process.described", { title });
}

/** For those who open the session later. What the user has interrupted has its note in the conversation. */
function noteFailure(core: SessionRunning, proc: Process, { reason, exit }: Ended): void {
  const { outcome } = ENDS[reason];
  if (conversationOf(proc).run === null || outcome === "completed" || outcome === "interrupted") return;
  const { err } = exit;
  const [hint, fact] = [err instanceof Fault ? err.hint : undefined, factOf(err)];
  const failure: RunFailure = {
    outcome,
    message: messageOfEnd(exit).slice(0, LIMITS.journalWordsChars),
    reason,
    ...(err === undefined ? {} : { code: codeOf(err) }),
    ...(hint === undefined ? {} : { hint }),
    ...(fact === undefined ? {} : { fact }),
  };
  core.note(proc, "process.failed_run", failure);
}

function messageOfEnd({ err, reason }: ExitStatus): string {
  return err?.message ?? reason;
}

/** Publishes the end of the run; call only once it is synced, as clients that waited for it may leave now. */
function end(core: SessionRunning, proc: Process, { reason, exit }: Ended): void {
  const run = conversationOf(proc).end();
  if (run === null) return;
  const mono = core.ports.clock.mono();
  const { pid, result } = proc;
  const { outcome } = ENDS[reason];
  proc.tell(
    {
      event: "idle",
      pid,
      seq: run.seq,
      outcome,
      reason,
      exitCode: exit.code,
      message: outcome === "completed" ? "" : messageOfEnd(exit),
      ...(exit.err === undefined ? {} : { error: exit.err }),
      result,
      tokensUsed: proc.used.tokens - run.tokensBefore,
      elapsedMs: mono - run.startedMono,
      queued: proc.mailbox?.size ?? 0,
      ...workingFor(core, proc),
      ...proc.refusals.told(),
    },
    mono,
  );
  core.idle(proc);
}

/** An agent that ends has left its message in the same moment: it counts as working until that is read. */
function workingFor(core: SessionRunning, proc: Process): Pick<RunEnd, "background" | "jobs"> {
  const working = core.table
    .childrenOf(proc.pid)
    .filter((child) => child.isLive && isInBackground(child) && child.life.activity !== "idle");
  const jobs = liveJobs(core, proc);
  const isTold = proc.mailbox?.has(({ from }) => from !== PID_KERNEL) === true;
  const background = Math.max(working.length, isTold ? 1 : 0);
  return {
    ...(background === 0 ? {} : { background }),
    ...(jobs === 0 ? {} : { jobs }),
  };
}

/** Syncs the journal; waits while the disk refuses writes for a time. A disk that is lost ends the daemon. */
async function durable(core: SessionRunning, proc: Process): Promise<void> {
  const { journal, log } = core.ports;
  for (let tries = 1; tries <= 2; tries++) {
    await core.journalWatch.heldUntil(proc, proc.abort.signal);
    try {
      return await journal.sync();
    } catch (error) {
      if (tries > 1)
        log("error", `pid ${proc.pid}: the end of a run could not be recorded: ${printed(error)}`);
    }
  }
}
