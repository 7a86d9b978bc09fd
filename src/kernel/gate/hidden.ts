/** Which tools a process is offered: a tool whose every call is denied is hidden. */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Permit, Subject } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import { type Granting, subjectOf } from "../process/subject.ts";

interface Look {
  readonly permit: Permit;
  readonly subject: Subject;
}

/** Of those that look in this turn of the event loop: an agent that begins looks for a dozen tools, one after another. */
const now = new Map<Process, Look>();

/** Process and policy are read at the first query. */
export function hidden(core: Granting, self: Process): (tool: string) => boolean {
  if (self.pid === PID_KERNEL) return () => false;
  return (tool) => {
    try {
      const { permit, subject } = now.get(self) ?? lookOf(core, self);
      return permit.hides?.(subject, tool) === true;
    } catch {
      // the tool stays visible; its calls are then asked about, and the error is reported there
      return false;
    }
  };
}

function lookOf(core: Granting, self: Process): Look {
  const look = { permit: core.ports.permitFor(self.seed.cwd), subject: subjectOf(core, self) };
  if (now.size === 0) process.nextTick(() => now.clear());
  now.set(self, look);
  return look;
}
