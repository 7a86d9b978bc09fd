/** What the policy says of a call, as things stand. */

import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Decision, PermitRequest } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import type { Granted } from "../process/rights/granted.ts";
import { type Granting, subjectOf } from "../process/subject.ts";
import type { Scope } from "./scope.ts";

/** Who would do what, as the policy is asked. */
export interface Claim {
  readonly core: Policed;
  readonly self: Process;
  readonly scope: Scope;
}

/** The policy of each place, and what persons have granted. */
export interface Policed extends Granting {
  readonly ports: Pick<KernelPorts, "permitFor" | "classifier" | "models" | "log">;
}

/** A policy that throws is a question, never a permission. */
export function decide({ core, self, scope }: Claim, granted?: Granted): Decision {
  try {
    return core.ports.permitFor(self.seed.cwd).decide(subjectOf(core, self, granted), requestOf(scope));
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    core.ports.log("error", `permit: ${detail}`);
    return {
      behavior: "ask",
      message: `the policy failed: ${detail}`,
      always: null,
      reason: { kind: "error", detail },
    };
  }
}

export function requestOf({ tool, effects, readOnly }: Scope): PermitRequest {
  return readOnly === true ? { tool, effects, readOnly } : { tool, effects };
}
