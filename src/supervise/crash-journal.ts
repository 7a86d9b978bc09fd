/** Where the exits under one supervisor are told: the journal, its log, the last of each child, and who observes. */
import type { Pid } from "../abi/ids.ts";
import type { ExitStatus } from "../abi/process.ts";
import type { CrashReport } from "../abi/supervise.ts";
import type { Core } from "../kernel/core.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Child } from "./child.ts";
import { causeOf, plainExit } from "./crash-report.ts";
import type { KeptCrash } from "./kept-supervisor.ts";
import type { Ledger } from "./ledger.ts";
import type { Judgement } from "./restart-policy.ts";
import type { CheckedSpec } from "./spec.ts";

export class CrashJournal {
  readonly #core: Core;
  readonly #spec: CheckedSpec;
  readonly #supervisor: Process;
  readonly #ledger: Ledger;

  constructor(core: Core, spec: CheckedSpec, supervisor: Process, ledger: Ledger) {
    this.#ledger = ledger;
    this.#core = core;
    this.#spec = spec;
    this.#supervisor = supervisor;
  }

  /** `pid` 0: it was not even made. A restart that follows is journalled after it. */
  report(child: Child, pid: Pid, exit: ExitStatus, judgement: Judgement): CrashReport {
    const { decision, restarts } = judgement;
    const report: CrashReport = {
      supervisor: this.#spec.name,
      child: child.id,
      pid,
      exit: plainExit(exit),
      cause: causeOf(exit),
      restarts,
      decision,
      delayMs: judgement.decision === "restart" ? judgement.delayMs : 0,
      at: this.#core.ports.clock.now(),
    };
    child.remember(report);
    this.#keep({ ...report, row: rowAfter(child, judgement), ranMs: child.ranMs, used: usedOf(child) });
    this.say(decision === "none" || exit.code === 0 ? "info" : "warn", this.#wordsOf(report));
    return report;
  }

  escalated(child: Child, reason: string, cause: string): void {
    const body = { supervisor: this.#spec.name, child: child.id, reason, cause };
    this.#core.note(this.#supervisor, "supervisor.escalated", body);
    this.#ledger.ended({ kind: "escalated", reason });
    this.say("error", reason);
  }

  say(level: "info" | "warn" | "error", words: string): void {
    this.#supervisor.log(level, words, this.#core.ports.clock.mono());
  }

  #keep(report: KeptCrash): void {
    this.#core.note(this.#supervisor, "supervisor.crash", report);
    this.#ledger.crash(report);
  }

  #wordsOf({ child, pid, exit, cause, restarts, decision, delayMs }: CrashReport): string {
    const what = `${child}${pid === 0 ? "" : ` (PID ${pid})`}: exited(${exit.code})`;
    const why = exit.code === 0 ? "" : `: ${cause}`;
    const next = `; restarting in ${(delayMs / 1000).toFixed(1)}s (${restarts}/${this.#spec.intensity.maxRestarts})`;
    return `${what}${why}${decision === "restart" ? next : ""}`;
  }
}

/** Restarts in a row, with the one that follows. */
function rowAfter({ row }: Child, judgement: Judgement): number {
  return judgement.decision === "restart" ? judgement.row : row;
}

function usedOf({ endowment }: Child): number {
  return endowment.account?.view().used ?? 0;
}
