/** A supervisor from outside: what can be done to it, who hears of it, and how one is made. */
import type { CrashReport, SupervisorView } from "../../abi/supervise.ts";
import type { Process } from "../process/process.ts";
import type { Attendance } from "./child-runs.ts";
import type { Comeback } from "./comeback.ts";
import type { KeptProject } from "./compose/kept.ts";
import type { Endowment } from "./endowment.ts";

/** What a person or a client can do to a supervisor that runs. */
export interface SupervisorControl {
  view(): SupervisorView;
  /** NOT_FOUND: no such child; CONFLICT: it runs. With the error of a start that fails it is stopped. */
  startChild(id: string): Promise<void>;
  /** It stays stopped. CONFLICT: it does not run. */
  stopChild(id: string): Promise<void>;
  /** CONFLICT: it does not run. A start that fails counts as an exit. */
  restartChild(id: string): Promise<void>;
}

/** Who hears of each step, in the same turn. */
interface Observer {
  attend(id: string): Attendance;
  /** An exit, or a start that failed, and what was decided. */
  exited(report: CrashReport): void;
  /** All that an earlier daemon left is judged: these wait to be released again. */
  cameBack(ids: readonly string[]): void;
}

export interface SupervisorOptions {
  /** Of whose rights the children get part; absent: the supervisor's own. */
  readonly rights?: Process;
  readonly endowment?: Endowment;
  /** Then nothing starts by itself: each child waits until it is released. */
  readonly observer?: Observer;
  /** Which child it is of the supervisor that starts it. */
  readonly nestedAs?: string;
  /** Of what it is the supervisor. */
  readonly project?: KeptProject;
  /** An earlier daemon left it. */
  readonly comeback?: Comeback;
}
