/** The options of a supervisor, and its observer. */
import type { CrashReport } from "../abi/supervise.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Attendance } from "./child-runs.ts";
import type { Comeback } from "./comeback.ts";
import type { Endowment } from "./endowment.ts";

/** Notified of each step, in the same turn of the event loop. */
interface Observer {
  attend(id: string): Attendance;
  /** An exit or a failed start, with the decision on it. */
  exited(report: CrashReport): void;
  /** All losses from an earlier daemon are judged; the children `ids` wait to be released again. */
  cameBack(ids: readonly string[]): void;
}

export interface SupervisorOptions {
  /** The process whose rights the children get a part of; absent: the supervisor itself. */
  readonly rights?: Process;
  readonly endowment?: Endowment;
  /** If set, no child starts by itself: each waits until it is released. */
  readonly observer?: Observer;
  /** Its child id in the supervisor that starts it. */
  readonly nestedAs?: string;
  /** The project that it supervises. */
  readonly project?: object;
  /** The state of its children from an earlier daemon; absent: a new supervisor. */
  readonly comeback?: Comeback;
}
