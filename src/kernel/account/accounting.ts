/** What the accounts need of a process, and of the kernel around it. */

import type { AskAnswer, AskReply } from "../../abi/ask.ts";
import type { Amounts } from "../../abi/budget.ts";
import type { GrantBy } from "../../abi/grants.ts";
import type { Pid } from "../../abi/ids.ts";
import type { ExitStatus, ProcessKind } from "../../abi/process.ts";
import type { AskEvent, AskedQuestion } from "../../abi/wire-events.ts";
import type { JournalHold } from "../ports/journal-hold.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Account } from "./account.ts";

/** A process that spends. */
export interface Payer {
  readonly pid: Pid;
  readonly ppid: Pid;
  readonly isLive: boolean;
  readonly cwd: string;
  readonly life: { readonly isResting: boolean };
  readonly seed: {
    readonly kind: ProcessKind;
    readonly intent: string;
    readonly body: { readonly name: string };
    readonly account: Account;
  };
  readonly used: Omit<Amounts, "steps"> & { readonly unpricedCalls: number };
  readonly work: { watch(heard: (isWorking: boolean) => void): void };
  readonly halt: {
    asking<T>(wait: () => Promise<T>): Promise<T>;
    readonly quiescence: { suspend<T>(wait: Promise<T>): Promise<T> };
  };
  log(level: "warn", message: string, mono: number): void;
}

/** How a question to the user is answered. */
export interface Answering {
  readonly signal: AbortSignal;
  /** Records the answer before it counts. */
  readonly close: (ask: AskEvent, reply: AskReply, by: GrantBy) => Promise<string>;
}

export interface Accounting {
  readonly ports: Pick<KernelPorts, "budget" | "clock" | "ends" | "journal">;
  readonly root: Payer;
  readonly table: {
    get(pid: Pid): Payer | undefined;
    all(): Iterable<Payer>;
    lineOf(proc: Payer): string;
  };
  readonly journalWatch: Pick<JournalHold<never>, "check">;
  readonly asks: {
    canAsk(proc: Payer): boolean;
    ask(
      proc: Payer,
      question: AskedQuestion,
      how: Answering,
    ): Promise<{ readonly answer: AskAnswer; readonly nobody?: string }>;
  };
  /** Ends a live process with this exit, after its usual grace. */
  end(proc: Payer, exit: ExitStatus): void;
}
