/** Which tools a process is offered: a tool whose every call is denied is hidden. */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Permit, Subject } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import { type Granting, subjectOf } from "../process/subject.ts";

/** Process and policy are read once, at the first query: a list queries each of its names. */
export function hidden(core: Granting, self: Process): (tool: string) => boolean {
  if (self.pid === PID_KERNEL) return () => false;
  let looked: { readonly permit: Permit; readonly subject: Subject } | undefined;
  return (tool) => {
    try {
      looked ??= { permit: core.ports.permitFor(self.seed.cwd), subject: subjectOf(core, self) };
      return looked.permit.hides?.(looked.subject, tool) === true;
    } catch {
      // the tool stays visible; its calls are then asked about, and the error is reported there
      return false;
    }
  };
}
