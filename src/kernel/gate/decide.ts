/** The policy's current decision on a call. */

import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Decision, Permit, PermitRequest } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import type { Granted } from "../process/rights/granted.ts";
import { type Granting, subjectOf } from "../process/subject.ts";
import type { Scope } from "./scope.ts";

/** The process and the call that the policy judges. */
export interface Claim {
  readonly core: Policed;
  readonly self: Process;
  readonly scope: Scope;
}

/** The policy of each folder, and what the user has granted. */
export interface Policed extends Granting {
  readonly ports: Pick<KernelPorts, "permitFor" | "classifier" | "models" | "log">;
}

/** If the policy throws, the decision is to ask, never to allow. `known`: the policy of this moment. */
export function decide({ core, self, scope }: Claim, granted?: Granted, known?: Permit): Decision {
  try {
    const policy = known ?? core.ports.permitFor(self.seed.cwd);
    return policy.decide(subjectOf(core, self, granted), requestOf(scope));
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
