/** Which tools there are for a process: one that is denied as a whole is none. */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Permit, Subject } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import { type Granting, subjectOf } from "../process/subject.ts";

/** Process and policy are looked at once, with the first question: a list asks for each of its names. */
export function hidden(core: Granting, self: Process): (tool: string) => boolean {
  if (self.pid === PID_KERNEL) return () => false;
  let looked: { readonly permit: Permit; readonly subject: Subject } | undefined;
  return (tool) => {
    try {
      looked ??= { permit: core.ports.permitFor(self.seed.cwd), subject: subjectOf(core, self) };
      return looked.permit.hides?.(looked.subject, tool) === true;
    } catch {
      // each call of it asks then, which is said where it is decided
      return false;
    }
  };
}
