/** A call that does not happen: what its caller reads, what the log says, and what is told of it when the run is over. */
import { messageOf, SyscallError } from "../../abi/errors.ts";
import { type Refusal, refusalDetails } from "../../abi/refusal.ts";
import { redactedValue } from "../../consent/redact/redacted-journal.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import { subjectOf } from "../process/subject.ts";
import { requestOf } from "./decide.ts";
import { describe } from "./describe.ts";
import type { Effectful } from "./effectful.ts";
import type { Scope } from "./scope.ts";

const PREFIX = "Permission denied: ";
const MAX_REASON = 400;

interface Refused {
  /** For the model. */
  readonly message: string;
  readonly reason: string;
  /** Of `waysOf`. */
  readonly ways: readonly string[];
}

/** Flags that would let it happen, the narrowest first. One with a secret in it could not be typed as it is shown. */
export function waysOf(core: Core, self: Process, scope: Scope): readonly string[] {
  try {
    const ways =
      core.ports.permitFor(self.seed.cwd).remedies?.(subjectOf(core, self), requestOf(scope)) ?? [];
    return ways.filter(
      (way) => core.ports.redactor?.redact(way) === way || core.ports.redactor === undefined,
    );
  } catch (error) {
    core.ports.log("error", `remedies: ${messageOf(error)}`);
    return [];
  }
}

/** PERMISSION: the policy refuses it, or nobody is there to be asked. Kept for the end of the run. */
export function refused(
  core: Core,
  self: Process,
  at: Effectful,
  scope: Scope,
  { message, reason, ways }: Refused,
): SyscallError {
  const { redactor } = core.ports;
  const told: Refusal = {
    tool: scope.tool,
    what: describe(scope.tool, at).text.replace(`${scope.tool}: `, ""),
    reason: (reason.startsWith(PREFIX) ? reason.slice(PREFIX.length) : reason).slice(0, MAX_REASON),
    allow: ways[0] ?? null,
  };
  const clean = redactor === undefined ? told : (redactedValue(redactor, told) as Refusal);
  self.refusals.add(clean);
  return refusedWith(core, self, at, scope, message, {
    details: refusalDetails(clean, !core.asks.canAsk(self)),
  });
}

/** A person said no, or (INVALID) the call makes no sense: no flag is the answer to that. */
export function withheld(
  core: Core,
  self: Process,
  at: Effectful,
  scope: Scope,
  message: string,
  code: "PERMISSION" | "INVALID" = "PERMISSION",
): SyscallError {
  return refusedWith(core, self, at, scope, message, { code });
}

/** The person is notified too, whatever the model makes of the answer. */
function refusedWith(
  core: Core,
  self: Process,
  { syscall, device, ...at }: Effectful,
  scope: Scope,
  message: string,
  { code = "PERMISSION", details }: { code?: "PERMISSION" | "INVALID"; details?: object },
): SyscallError {
  const { pid } = self;
  const what = describe(scope.tool, { syscall, device, ...at }).text;
  self.log("warn", `denied ${what} (${message})`, core.ports.clock.mono());
  return new SyscallError({ syscall, pid, device, code, message, details });
}
