/** Reports the exits under one supervisor: to the journal, to its log, and to the newest crash reports of the child. */
import type { Pid } from "../abi/ids.ts";
import type { ExitStatus } from "../abi/process.ts";
import type { Clock } from "../abi/program.ts";
import type { CrashReport } from "../abi/supervise.ts";
import type { EventLog } from "../kernel/ports/events.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Child } from "./child.ts";
import { causeOf, plainExit } from "./crash-report.ts";
import type { Ledger } from "./ledger.ts";
import type { KeptCrash } from "./record/kept-supervisor.ts";
import type { Judgement } from "./restart-policy.ts";
import type { CheckedSpec } from "./spec.ts";

interface Parts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly events: Pick<EventLog, "publish">;
}

interface Loss {
  readonly child: Child;
  readonly pid: Pid;
  readonly exit: ExitStatus;
}

export class CrashJournal {
  readonly #spec: CheckedSpec;
  readonly #supervisor: Process;
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #events: Pick<EventLog, "publish">;

  constructor(spec: CheckedSpec, supervisor: Process, parts: Parts) {
    this.#spec = spec;
    this.#supervisor = supervisor;
    this.#ledger = parts.ledger;
    this.#clock = parts.clock;
    this.#events = parts.events;
  }

  /** `pid` 0: the process was not even created. A restart that follows is recorded after the report. */
  report({ child, pid, exit }: Loss, judgement: Judgement): CrashReport {
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
      at: this.#clock.now(),
    };
    child.remember(report);
    const { at: _at, ...told } = report;
    this.#publish("supervisor.crash", told);
    this.#ledger.tell("supervisor.crash", {
      ...report,
      row: rowAfter(child, judgement),
      ranMs: child.ranMs,
      used: usedOf(child),
    } satisfies KeptCrash);
    this.say(decision === "none" || exit.code === 0 ? "info" : "warn", this.#wordsOf(report));
    return report;
  }

  escalated(child: Child, reason: string, cause: string): void {
    const body = { supervisor: this.#spec.name, child: child.id, reason, cause };
    this.#publish("supervisor.escalated", body);
    this.#ledger.tell("supervisor.escalated", body);
    this.say("error", reason);
  }

  /** The ledger has the record that counts: an event that a full disk refuses is missing, no more. */
  #publish(event: string, data: object): void {
    this.#events.publish({ event, pid: this.#supervisor.pid, data }).catch(() => {});
  }

  say(level: "info" | "warn" | "error", words: string): void {
    this.#supervisor.log(level, words, this.#clock.mono());
  }

  #wordsOf({ child, pid, exit, cause, restarts, decision, delayMs }: CrashReport): string {
    const what = `${child}${pid === 0 ? "" : ` (PID ${pid})`}: exited(${exit.code})`;
    const why = exit.code === 0 ? "" : `: ${cause}`;
    const next = `; restarting in ${(delayMs / 1000).toFixed(1)}s (${restarts}/${this.#spec.intensity.maxRestarts})`;
    return `${what}${why}${decision === "restart" ? next : ""}`;
  }
}

/** Restarts in a row, including the one that follows. */
function rowAfter({ row }: Child, judgement: Judgement): number {
  return judgement.decision === "restart" ? judgement.row : row;
}

function usedOf({ endowment }: Child): number {
  return endowment.account?.view().used ?? 0;
}
