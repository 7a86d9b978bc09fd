/** Process groups: made on first use, gone with the last member. */
import type { Pgid, Pid } from "../../abi/ids.ts";
import type { Process } from "../process/process.ts";

export interface GroupView {
  readonly id: Pgid;
  /** "" for one without a name. */
  readonly name: string;
  /** By rising pid. */
  readonly pids: readonly Pid[];
}

export class Groups {
  /** `maker`: who makes it when it is not there. Errors: INVALID name, NOT_FOUND id, UNAVAILABLE full. */
  join(_proc: Process, _group: Pgid | string, _maker: Pid): Pgid {
    throw new Error("to be written");
  }
  /** NOT_FOUND: no such group, or not a member. */
  leave(_proc: Process, _group: Pgid | string): void {
    throw new Error("to be written");
  }
  /** NOT_FOUND. */
  find(_group: Pgid | string): GroupView & { readonly maker: Pid } {
    throw new Error("to be written");
  }
  leaveAll(_proc: Process): void {}
  shareOne(_a: Process, _b: Process): boolean {
    return false;
  }
  list(): readonly GroupView[] {
    return [];
  }
}
