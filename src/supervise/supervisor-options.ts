/** How a supervisor is made, and who hears of it. */
import type { CrashReport } from "../abi/supervise.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Attendance } from "./child-runs.ts";
import type { Comeback } from "./comeback.ts";
import type { Endowment } from "./endowment.ts";

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
  readonly project?: object;
  /** An earlier daemon left it. */
  readonly comeback?: Comeback;
}
